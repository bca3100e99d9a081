// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/format_sacct.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "lib/config/nearest.h"
#include "lib/sim/field_lines.h"

namespace rubato::sim {
namespace {

enum Column : std::size_t {
  kId,
  kSubmit,
  kStart,
  kEnd,
  kTres,
  kLimit,
  kEligible,
  kAccount,
  kName,
  kColumns
};
constexpr std::array<const char*, kColumns> kHeadings{
    "JobID", "Submit", "Start", "End", "AllocTRES", "Timelimit", "Eligible", "Account", "JobName"};
constexpr std::size_t kNeeded = kLimit;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::int64_t kMostTime = 1'000'000'000'000;
constexpr int kMostGpus = 1'000'000;
constexpr double kMostMemory = 1e12;  // MiB

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// Days since 1970 of a date of the Gregorian calendar (Hinnant, chrono-compatible algorithms).
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2026-11-21T12:30:00" or seconds since 1970. Local time without its zone: a change between
/// summer and winter time shows as an hour.
std::optional<double> time_of(std::string_view text) {
  if (const auto seconds = digits(text)) {
    return *seconds <= kMostTime ? std::optional<double>(static_cast<double>(*seconds))
                                 : std::nullopt;
  }
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':') {
    return std::nullopt;
  }
  std::array<std::int64_t, 6> part{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kAt{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < kAt.size(); ++i) {
    const auto value = digits(text.substr(kAt[i].first, kAt[i].second));
    if (!value) return std::nullopt;
    part[i] = *value;
  }
  if (part[1] < 1 || part[1] > 12 || part[2] < 1 || part[2] > 31 || part[3] > 23 || part[4] > 59 ||
      part[5] > 60) {
    return std::nullopt;
  }
  return static_cast<double>(days_of(part[0], part[1], part[2]) * 86400 + part[3] * 3600 +
                             part[4] * 60 + part[5]);
}

/// "1-02:03:04", "02:03:04", "03:04"; kNever for UNLIMITED and Partition_Limit.
std::optional<double> limit_of(std::string_view text) {
  if (text.empty() || text == "UNLIMITED" || text == "Partition_Limit") return kNever;
  std::int64_t days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = digits(text.substr(0, dash));
    if (!value || *value > kMostTime) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  for (std::size_t from = 0; from <= text.size(); ++parts) {
    const std::size_t to = std::min(text.find(':', from), text.size());
    const auto value = digits(text.substr(from, to - from));
    if (!value || *value > kMostTime || parts > 2) return std::nullopt;
    seconds = seconds * 60 + *value;
    from = to + 1;
  }
  if (parts < 2 || parts > 3) return std::nullopt;
  return static_cast<double>(days * 86400 + seconds);
}

/// "64G", "62.50G", "4000M" in MiB; a number alone counts bytes.
std::optional<double> memory_of(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTP";
  double unit = 1.0 / (1 << 20);
  if (const auto at = text.empty() ? std::string_view::npos : kUnits.find(text.back());
      at != std::string_view::npos) {
    unit = std::pow(1024.0, static_cast<double>(at) - 1);
    text.remove_suffix(1);
  }
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !(value >= 0)) {
    return std::nullopt;
  }
  return std::min(value * unit, kMostMemory);
}

/// What AllocTRES says.
struct Tres {
  int gpus = 0;
  std::string type;   ///< of the GPUs; "" where none or several are named
  int cpus = 0;       ///< 0: not said
  double memory = 0;  ///< MiB; 0: not said
};

/// Counts of GPUs in a list, with and without types.
struct GpuCounts {
  int plain = 0;
  int typed = 0;
  int types = 0;
};

/// One entry of the list, as "gres/gpu:a100=4"; false: no such entry.
bool read_tres(std::string_view entry, Tres& tres, GpuCounts& counts) {
  constexpr std::string_view kGpu = "gres/gpu";
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view key = entry.substr(0, equals);
  const std::string_view value = entry.substr(equals + 1);
  if (key == "mem") {
    const auto memory = memory_of(value);
    tres.memory = memory.value_or(0);
    return memory.has_value();
  }
  const bool gpus = key.starts_with(kGpu) && (key.size() == kGpu.size() || key[kGpu.size()] == ':');
  if (!gpus && key != "cpu") return true;
  const auto count = digits(value);
  if (!count || *count > kMostGpus) return false;
  const int number = static_cast<int>(*count);
  if (!gpus) {
    tres.cpus = number;
  } else if (key.size() == kGpu.size()) {
    counts.plain = number;
  } else {
    tres.type = std::string(key.substr(kGpu.size() + 1));
    counts.typed = std::min(counts.typed + number, kMostGpus);
    ++counts.types;
  }
  return true;
}

/// "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1"; nullopt: no such list.
std::optional<Tres> tres_of(std::string_view text) {
  Tres tres;
  GpuCounts counts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    if (!read_tres(text.substr(from, to - from), tres, counts)) return std::nullopt;
    from = to + 1;
  }
  tres.gpus = std::max(counts.plain, counts.typed);
  if (counts.types != 1) tres.type.clear();
  return tres;
}

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) { at_.fill(kNone); }

  Result<void> head(const NumberedLine& line) {
    const FieldLine fields(line.text, '|', name_, line.number);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      found.emplace_back(fields.text(i));
      for (std::size_t c = 0; c < kColumns; ++c) {
        if (found.back() == kHeadings[c]) at_[c] = i;
      }
    }
    for (std::size_t c = 0; c < kNeeded; ++c) {
      if (at_[c] != kNone) continue;
      return fail(fmt::format("{}:{}:1: no column {}{}", name_, line.number, kHeadings[c],
                              did_you_mean(kHeadings[c], found)));
    }
    width_ = fields.size();
    return {};
  }

  Result<void> row(const NumberedLine& line) {
    const FieldLine fields(line.text, '|', name_, line.number);
    if (fields.size() != width_) {
      return fields.error(std::min(fields.size(), width_),
                          fmt::format("{} fields between '|', as the heading has", width_));
    }
    const std::string_view id = fields.text(at_[kId]);
    if (id.empty()) return fields.error(at_[kId], "a job id");
    if (id.find('.') != std::string_view::npos) return ++history_.steps, Result<void>{};
    const auto submit = time_of(fields.text(at_[kSubmit]));
    if (!submit) return fields.error(at_[kSubmit], kTime);
    auto start = moment(fields, kStart);
    if (!start) return tl::unexpected(start.error());
    auto end = moment(fields, kEnd);
    if (!end) return tl::unexpected(end.error());
    auto eligible = at_[kEligible] == kNone ? Result<std::optional<double>>(std::nullopt)
                                            : moment(fields, kEligible);
    if (!eligible) return tl::unexpected(eligible.error());
    const auto tres = tres_of(fields.text(at_[kTres]));
    if (!tres) return fields.error(at_[kTres], "resources, as cpu=8,gres/gpu:a100=4,node=1");
    const auto limit = limit_of(optional_text(fields, kLimit));
    if (!limit) return fields.error(at_[kLimit], "a time limit, as 1-00:00:00 or UNLIMITED");
    // A job that was cancelled while it waited may have its end as its start.
    const bool never = fields.text(at_[kTres]).empty();
    if (!*start || !*end || never) return ++history_.unfinished, Result<void>{};
    if (tres->gpus == 0) return ++history_.without_gpus, Result<void>{};
    if (**end == **start) return ++history_.empty, Result<void>{};
    if (**end < **start) return fields.error(at_[kEnd], "an end after its start");
    if (**start < *submit) return fields.error(at_[kStart], "a start after its submission");
    // A requeue writes when the next run may start into the record of the run before.
    const double said = eligible->value_or(*submit);
    const double ready = said > **start ? *submit : std::max(said, *submit);
    add(fields, {{}, ready, **start, **end, {line.number, fields.column(at_[kTres])}}, *tres,
        *limit);
    return {};
  }

  SacctHistory finish() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tie(a.ready, a.job.key, a.start) < std::tie(b.ready, b.job.key, b.start);
    });
    const double begin = rows_.empty() ? 0 : rows_.front().ready;
    std::map<std::string, int> runs;
    for (Row& row : rows_) {
      if (row.job.key.find('+') != std::string::npos) ++history_.het;
      if (const int run = ++runs[row.job.key]; run > 1) {
        ++history_.requeued;
        row.job.key += fmt::format(" run {}", run);
      }
      row.job.arrival = row.ready - begin;
      JobResult real;
      real.arrival = row.job.arrival;
      real.first_start = row.start - begin;
      real.finish = row.end - begin;
      real.gpu_seconds = (row.end - row.start) * row.job.gpus;
      history_.real.push_back(real);
      history_.jobs.push_back(std::move(row.job));
      history_.places.push_back(row.place);
    }
    return std::move(history_);
  }

 private:
  static constexpr const char* kTime = "a time, as 2026-11-21T12:30:00";

  struct Row {
    SimJob job;
    double ready = 0;
    double start = 0;
    double end = 0;
    std::pair<std::size_t, std::size_t> place;
  };

  /// None for Unknown and None.
  Result<std::optional<double>> moment(const FieldLine& fields, Column column) const {
    const std::string_view text = fields.text(at_[column]);
    if (text == "Unknown" || text == "None" || text.empty()) return std::optional<double>{};
    const auto time = time_of(text);
    if (!time) return fields.error(at_[column], kTime);
    return std::optional<double>(time);
  }

  [[nodiscard]] std::string optional_text(const FieldLine& fields, Column column) const {
    return at_[column] == kNone ? std::string{} : std::string(fields.text(at_[column]));
  }

  void add(const FieldLine& fields, Row row, const Tres& tres, double limit) {
    SimJob& job = row.job;
    job.key = std::string(fields.text(at_[kId]));
    job.account = optional_text(fields, kAccount);
    job.model = optional_text(fields, kName);
    job.gpus = job.min_gpus = job.max_gpus = tres.gpus;
    job.work = row.end - row.start;
    if (!tres.type.empty()) job.types = {tres.type};
    job.cores_per_gpu = std::max(1, (tres.cpus + tres.gpus - 1) / tres.gpus);
    job.memory_per_gpu = static_cast<long>(std::ceil(tres.memory / tres.gpus));
    // Slurm ends jobs a little late.
    if (limit < kNever && limit > 0) job.time_limit = std::max(limit, job.work);
    rows_.push_back(std::move(row));
  }

  const std::string& name_;
  std::array<std::size_t, kColumns> at_{};
  std::size_t width_ = 0;
  std::vector<Row> rows_;
  SacctHistory history_;
};

/// A job runs as long as it did, in proportion to its GPUs.
class SameTime final : public Truth {
 public:
  [[nodiscard]] double rate(const SimJob& job, const Setting& setting,
                            double /*done*/) const override {
    return setting.type < 0 ? 0 : static_cast<double>(setting.gpus()) / job.gpus;
  }
};

}  // namespace

Result<SacctHistory> parse_sacct(std::string_view text, const std::string& name) {
  const auto lines = lines_of(text);
  if (lines.empty()) return fail(fmt::format("{}:1:1: expected a heading, found the end", name));
  Reader reader(name);
  if (auto read = reader.head(lines.front()); !read) return tl::unexpected(read.error());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (auto read = reader.row(lines[i]); !read) return tl::unexpected(read.error());
  }
  return reader.finish();
}

namespace {

/// The groups of the cluster whose GPUs Slurm calls `type`.
std::vector<std::string> groups_called(const ClusterShape& cluster, const std::string& type) {
  std::vector<std::string> names;
  for (const NodeGroup& group : cluster.groups) {
    if (group.type == type || group.gpu == type) names.push_back(group.type);
  }
  return names;
}

/// Most a GPU of the job may take of an empty node of its groups; 0: never short.
long most_a_gpu(const ClusterShape& cluster, const SimJob& job, long (*has)(const NodeGroup&)) {
  long most = 0;
  for (const NodeGroup& group : cluster.groups) {
    const bool may = job.types.empty() ||
                     std::find(job.types.begin(), job.types.end(), group.type) != job.types.end();
    if (!may || job.gpus > group.nodes * group.gpus_per_node) continue;
    if (has(group) == 0) return 0;
    most = std::max(most, has(group) / std::min(job.gpus, group.gpus_per_node));
  }
  return most;
}

/// Cores and memory at most as a node has them for so many GPUs. True: it was more.
bool fit_to_nodes(const ClusterShape& cluster, SimJob& job) {
  const long cores = most_a_gpu(
      cluster, job, [](const NodeGroup& group) { return static_cast<long>(group.cores); });
  const long memory = most_a_gpu(cluster, job, [](const NodeGroup& group) { return group.memory; });
  const bool wide =
      (cores > 0 && job.cores_per_gpu > cores) || (memory > 0 && job.memory_per_gpu > memory);
  if (cores > 0) job.cores_per_gpu = static_cast<int>(std::min<long>(job.cores_per_gpu, cores));
  if (memory > 0) job.memory_per_gpu = std::min(job.memory_per_gpu, memory);
  return wide;
}

}  // namespace

Result<Suite> read_sacct_suite(const std::string& file, const std::string& /*profiles*/,
                               const ClusterShape& cluster) {
  const auto text = read_text(file);
  if (!text) return tl::unexpected(text.error());
  auto history = parse_sacct(*text, file);
  if (!history) return tl::unexpected(history.error());
  if (history->jobs.empty()) {
    return fail(fmt::format("{}: no job with GPUs that ended{}", file,
                            history->without_gpus > 0
                                ? "; Slurm records GPUs with AccountingStorageTRES=gres/gpu"
                                : ""));
  }
  Suite suite;
  suite.name = file;
  suite.cluster = cluster;
  suite.truth = std::make_shared<SameTime>();
  for (std::size_t i = 0; i < history->jobs.size(); ++i) {
    SimJob& job = history->jobs[i];
    const std::string type = job.types.empty() ? "" : job.types.front();
    if (!type.empty()) job.types = groups_called(cluster, type);
    if (!type.empty() && job.types.empty()) ++history->other_type;
    if (fit_to_nodes(cluster, job)) ++history->too_wide;
    history->real[i].ideal_s = ideal_seconds(*suite.truth, cluster, job);
    if (history->real[i].ideal_s < kNever) continue;
    return fail(fmt::format("{}:{}:{}: job {} had {} GPUs{}, the cluster ({}) has fewer", file,
                            history->places[i].first, history->places[i].second, job.key, job.gpus,
                            job.types.empty() ? "" : " of type " + type, cluster.text()));
  }
  suite.jobs = history->jobs;
  suite.data = std::make_shared<const SacctHistory>(std::move(*history));
  return suite;
}

const SacctHistory* history_of(const Suite& suite) {
  return static_cast<const SacctHistory*>(suite.data.get());
}

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/format_sacct.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "lib/config/nearest.h"
#include "lib/sim/field_lines.h"

namespace rubato::sim {
namespace {

enum Column : std::size_t { kId, kSubmit, kStart, kEnd, kTres, kLimit, kAccount, kName, kColumns };
constexpr std::array<const char*, kColumns> kHeadings{
    "JobID", "Submit", "Start", "End", "AllocTRES", "Timelimit", "Account", "JobName"};
constexpr std::size_t kNeeded = kLimit;
constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::int64_t kMostTime = 1'000'000'000'000;
constexpr int kMostGpus = 1'000'000;

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

/// "1-02:03:04", "02:03:04", "03:04"; none for UNLIMITED and Partition_Limit.
std::optional<double> limit_of(std::string_view text) {
  std::int64_t days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = digits(text.substr(0, dash));
    if (!value) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  for (std::size_t from = 0; from <= text.size(); ++parts) {
    const std::size_t to = std::min(text.find(':', from), text.size());
    const auto value = digits(text.substr(from, to - from));
    if (!value) return std::nullopt;
    seconds = seconds * 60 + *value;
    from = to + 1;
  }
  if (parts < 2 || parts > 3) return std::nullopt;
  return static_cast<double>(days * 86400 + seconds);
}

struct Gpus {
  int count = 0;
  std::string type;  ///< "" where none or several are named
};

/// "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1"; nullopt: no such list.
std::optional<Gpus> gpus_of(std::string_view text) {
  constexpr std::string_view kGpu = "gres/gpu";
  Gpus gpus;
  int types = 0;
  int typed = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string_view entry = text.substr(from, to - from);
    from = to + 1;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string_view key = entry.substr(0, equals);
    if (!key.starts_with(kGpu)) continue;
    key.remove_prefix(kGpu.size());
    if (!key.empty() && key.front() != ':') continue;
    const auto count = digits(entry.substr(equals + 1));
    if (!count || *count > kMostGpus) return std::nullopt;
    if (key.empty()) {
      gpus.count = static_cast<int>(*count);
    } else {
      gpus.type = std::string(key.substr(1));
      typed += static_cast<int>(*count);
      ++types;
    }
  }
  gpus.count = std::max(gpus.count, typed);
  if (types != 1) gpus.type.clear();
  return gpus;
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
    const auto gpus = gpus_of(fields.text(at_[kTres]));
    if (!gpus) return fields.error(at_[kTres], "resources, as cpu=8,gres/gpu:a100=4,node=1");
    if (!*start || !*end || **end <= **start) return ++history_.unfinished, Result<void>{};
    if (gpus->count == 0) return ++history_.without_gpus, Result<void>{};
    if (**start < *submit) return fields.error(at_[kStart], "a start after its submission");
    add(fields, *submit, **start, **end, *gpus);
    return {};
  }

  SacctHistory finish() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::pair(a.submit, a.job.key) < std::pair(b.submit, b.job.key);
    });
    const double begin = rows_.empty() ? 0 : rows_.front().submit;
    for (Row& row : rows_) {
      row.job.arrival = row.submit - begin;
      JobResult real;
      real.arrival = row.job.arrival;
      real.first_start = row.start - begin;
      real.finish = row.end - begin;
      real.gpu_seconds = (row.end - row.start) * row.job.gpus;
      history_.real.push_back(real);
      history_.jobs.push_back(std::move(row.job));
    }
    return std::move(history_);
  }

 private:
  static constexpr const char* kTime = "a time, as 2026-11-21T12:30:00";

  struct Row {
    SimJob job;
    double submit = 0;
    double start = 0;
    double end = 0;
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

  void add(const FieldLine& fields, double submit, double start, double end, const Gpus& gpus) {
    Row row;
    row.submit = submit;
    row.start = start;
    row.end = end;
    row.job.key = std::string(fields.text(at_[kId]));
    row.job.account = optional_text(fields, kAccount);
    row.job.model = optional_text(fields, kName);
    row.job.gpus = row.job.min_gpus = row.job.max_gpus = gpus.count;
    row.job.work = end - start;
    if (!gpus.type.empty()) row.job.types = {gpus.type};
    if (const auto limit = limit_of(optional_text(fields, kLimit)); limit && *limit > 0) {
      row.job.time_limit = std::max(*limit, row.job.work);  // Slurm ends jobs a little late
    }
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

Result<Suite> read_sacct_suite(const std::string& file, const std::string& /*profiles*/,
                               const ClusterShape& cluster) {
  const auto text = read_text(file);
  if (!text) return tl::unexpected(text.error());
  auto history = parse_sacct(*text, file);
  if (!history) return tl::unexpected(history.error());
  if (history->jobs.empty()) return fail(fmt::format("{}: no job with GPUs that ended", file));
  Suite suite;
  suite.name = file;
  suite.cluster = cluster;
  suite.truth = std::make_shared<SameTime>();
  for (SimJob& job : history->jobs) {
    if (!job.types.empty() && cluster.type_of(job.types.front()) < 0) job.types.clear();
  }
  for (std::size_t i = 0; i < history->jobs.size(); ++i) {
    const SimJob& job = history->jobs[i];
    history->real[i].ideal_s = ideal_seconds(*suite.truth, cluster, job);
    if (history->real[i].ideal_s < kNever) continue;
    return fail(fmt::format("{}: job {} had {} GPUs{}, which the cluster does not have", file,
                            job.key, job.gpus,
                            job.types.empty() ? "" : " of type " + job.types.front()));
  }
  suite.jobs = history->jobs;
  suite.data = std::make_shared<const SacctHistory>(std::move(*history));
  return suite;
}

const SacctHistory* history_of(const Suite& suite) {
  return static_cast<const SacctHistory*>(suite.data.get());
}

}  // namespace rubato::sim

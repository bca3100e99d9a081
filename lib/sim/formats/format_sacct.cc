// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/formats/format_sacct.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "lib/base/nearest.h"
#include "lib/sim/formats/field_lines.h"
#include "lib/sim/formats/sacct_fields.h"

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
    if (fields.size() == 1) {
      return fields.error(0, "columns with '|' between, as sacct --parsable2 prints them");
    }
    for (std::size_t c = 0; c < kNeeded; ++c) {
      if (at_[c] != kNone) continue;
      // The missing heading is the main message; the similar heading found follows.
      const auto near = nearest(kHeadings[c], found);
      return fail(fmt::format("{}:{}:1: no column {}{}", name_, line.number, kHeadings[c],
                              near ? fmt::format("; the heading has '{}'", *near) : ""));
    }
    width_ = fields.size();
    return {};
  }

  Result<void> row(const NumberedLine& line) {
    const FieldLine fields(line.text, '|', name_, line.number);
    // A name may contain '|', which is harmless in the last column.
    if (fields.size() < width_ || (fields.size() > width_ && at_[kName] + 1 != width_)) {
      return fields.error(std::min(fields.size(), width_),
                          fmt::format("{} fields between '|', as the heading has", width_));
    }
    const std::string_view id = fields.text(at_[kId]);
    if (id.empty()) return fields.error(at_[kId], "a job id");
    if (id.find('.') != std::string_view::npos) return ++history_.steps, Result<void>{};
    const auto submit = sacct_time(fields.text(at_[kSubmit]));
    if (!submit) return fields.error(at_[kSubmit], kTime);
    auto start = moment(fields, kStart);
    if (!start) return tl::unexpected(start.error());
    auto end = moment(fields, kEnd);
    if (!end) return tl::unexpected(end.error());
    auto eligible = at_[kEligible] == kNone ? Result<std::optional<double>>(std::nullopt)
                                            : moment(fields, kEligible);
    if (!eligible) return tl::unexpected(eligible.error());
    const auto tres = sacct_tres(fields.text(at_[kTres]));
    if (!tres) return fields.error(at_[kTres], "resources, as cpu=8,gres/gpu:a100=4,node=1");
    const auto limit = sacct_limit(optional_text(fields, kLimit));
    if (!limit) return fields.error(at_[kLimit], "a time limit, as 1-00:00:00 or UNLIMITED");
    // Overlapping files may be concatenated; each run counts once.
    if (!seen_.insert(line.text).second) return ++history_.twice, Result<void>{};
    // For a job cancelled while pending, Start may equal End.
    const bool never = fields.text(at_[kTres]).empty();
    if (!*start || !*end || never) return ++history_.unfinished, Result<void>{};
    if (tres->gpus == 0) return ++history_.without_gpus, Result<void>{};
    if (**end == **start) return ++history_.empty, Result<void>{};
    // Local time jumps at clock changes; one odd job must not reject the whole file.
    if (**end < **start || **start < *submit) return ++history_.odd_times, Result<void>{};
    // A requeue writes the next run's eligible time into the record of the previous run.
    const double said = eligible->value_or(*submit);
    const double ready = said > **start ? *submit : std::max(said, *submit);
    add(fields, {{}, ready, **start, **end, {line.number, fields.column(at_[kTres])}}, *tres,
        *limit);
    if (at_[kName] != kNone && at_[kName] + 1 == width_) {
      rows_.back().job.model = std::string(line.text.substr(fields.column(at_[kName]) - 1));
    }
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

  /// nullopt for Unknown and None.
  Result<std::optional<double>> moment(const FieldLine& fields, Column column) const {
    const std::string_view text = fields.text(at_[column]);
    if (text == "Unknown" || text == "None" || text.empty()) return std::optional<double>{};
    const auto time = sacct_time(text);
    if (!time) return fields.error(at_[column], kTime);
    return std::optional<double>(time);
  }

  [[nodiscard]] std::string optional_text(const FieldLine& fields, Column column) const {
    return at_[column] == kNone ? std::string{} : std::string(fields.text(at_[column]));
  }

  void add(const FieldLine& fields, Row row, const SacctTres& tres, double limit) {
    SimJob& job = row.job;
    job.key = std::string(fields.text(at_[kId]));
    job.line.number = row.place.first;
    job.account = optional_text(fields, kAccount);
    job.model = optional_text(fields, kName);
    job.gpus = job.min_gpus = job.max_gpus = tres.gpus;
    job.work = row.end - row.start;
    if (!tres.type.empty()) job.types = {tres.type};
    job.cores_per_gpu = std::max(1, (tres.cpus + tres.gpus - 1) / tres.gpus);
    job.memory_per_gpu = static_cast<long>(std::ceil(tres.memory / tres.gpus));
    // Slurm may end jobs slightly after their limit.
    if (limit < kNever && limit > 0) job.time_limit = std::max(limit, job.work);
    rows_.push_back(std::move(row));
  }

  const std::string& name_;
  std::array<std::size_t, kColumns> at_{};
  std::size_t width_ = 0;
  std::set<std::string_view> seen_;
  std::vector<Row> rows_;
  SacctHistory history_;
};

/// A job keeps its recorded run time, scaled by its GPU count.
class SameTime final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    return !setting.type.valid() ? 0 : static_cast<double>(setting.gpus()) / job.gpus;
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

/// The groups of the cluster whose GPUs have the Slurm type `type`.
std::vector<std::string> groups_called(const ClusterShape& cluster, const std::string& type) {
  std::vector<std::string> names;
  for (const NodeGroup& group : cluster.groups) {
    if (group.type == type || group.gpu == type) names.push_back(group.type);
  }
  return names;
}

/// Maximum amount per GPU of the job on an empty node of its groups; 0: unlimited.
long max_per_gpu(const ClusterShape& cluster, const SimJob& job, long (*has)(const NodeGroup&)) {
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

/// Limits cores and memory per GPU to what its nodes have. True: something was reduced.
bool fit_to_nodes(const ClusterShape& cluster, SimJob& job) {
  const long cores = max_per_gpu(
      cluster, job, [](const NodeGroup& group) { return static_cast<long>(group.cores); });
  const long memory =
      max_per_gpu(cluster, job, [](const NodeGroup& group) { return group.memory; });
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
  std::string small;  // the first job too large for the cluster
  bool some = false;
  suite.truth = std::make_shared<SameTime>();
  for (std::size_t i = 0; i < history->jobs.size(); ++i) {
    SimJob& job = history->jobs[i];
    const std::string type = job.types.empty() ? "" : job.types.front();
    if (!type.empty()) job.types = groups_called(cluster, type);
    if (!type.empty() && job.types.empty()) ++history->other_type;
    if (fit_to_nodes(cluster, job)) ++history->too_wide;
    history->real[i].ideal_s = ideal_seconds(*suite.truth, cluster, job);
    some |= history->real[i].ideal_s < kNever;
    if (history->real[i].ideal_s < kNever || !small.empty()) continue;
    small = fmt::format("{}:{}:{}: job {} had {} GPUs{}, the cluster ({}) has fewer", file,
                        history->places[i].first, history->places[i].second, job.key, job.gpus,
                        job.types.empty() ? "" : " of type " + type, cluster.text());
  }
  if (!some) return fail(small);
  suite.jobs = history->jobs;
  suite.data = std::make_shared<const SacctHistory>(std::move(*history));
  return suite;
}

const SacctHistory* history_of(const Suite& suite) {
  return static_cast<const SacctHistory*>(suite.data.get());
}

}  // namespace rubato::sim

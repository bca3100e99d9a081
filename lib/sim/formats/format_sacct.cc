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
#include "lib/base/statistics.h"
#include "lib/sim/engine/engine.h"
#include "lib/sim/formats/field_lines.h"
#include "lib/sim/formats/sacct_fields.h"

namespace rubato::sim {
namespace {

/// What a restart costs: the default of RestartCost, since a history does not tell.
constexpr double kRestartSeconds = 60;

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
  kRequest,
  kColumns
};
constexpr std::array<const char*, kColumns> kHeadings{
    "JobID",     "Submit",   "Start",   "End",     "AllocTRES",
    "Timelimit", "Eligible", "Account", "JobName", "ReqTRES"};
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
    for (const auto& time : {std::optional<double>(submit), *start, *end}) {
      if (time) last_ = std::max(last_, *time);
    }
    if (*end) first_end_ = std::min(first_end_, **end);
    // For a job cancelled while pending, Start may equal End.
    const bool never = fields.text(at_[kTres]).empty();
    if (!*start && !*end && never) return waiting(fields, id, *submit, *eligible, *limit);
    if (!*start || never) return ++history_.unfinished, Result<void>{};
    if (tres->gpus == 0) return ++history_.without_gpus, Result<void>{};
    if (!*end) {
      if (**start < *submit) return ++history_.odd_times, Result<void>{};
      add(fields, {{}, ready_of(*submit, *eligible, **start), **start, kNever, {}}, *tres, *limit);
      return {};
    }
    if (**end == **start) return ++history_.empty, Result<void>{};
    // Local time jumps at clock changes; one odd job must not reject the whole file.
    if (**end < **start || **start < *submit) return ++history_.odd_times, Result<void>{};
    add(fields, {{}, ready_of(*submit, *eligible, **start), **start, **end, {}}, *tres, *limit);
    return {};
  }

  SacctHistory finish() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::tie(a.ready, a.job.key, a.start) < std::tie(b.ready, b.job.key, b.start);
    });
    find_begin_and_end();
    std::map<std::string, int> runs;
    for (Row& row : rows_) {
      if (row.job.key.find('+') != std::string::npos) ++history_.het;
      if (const int run = ++runs[row.job.key]; run > 1) {
        ++history_.requeued;
        row.job.key += fmt::format(" run {}", run);
      }
    }
    // It ended when the history begins.
    std::erase_if(rows_, [&](const Row& row) { return row.end <= history_.begin; });
    std::stable_partition(rows_.begin(), rows_.end(),
                          [&](const Row& row) { return row.start < history_.begin; });
    for (Row& row : rows_) keep(row);
    return std::move(history_);
  }

 private:
  static constexpr const char* kTime = "a time, as 2026-11-21T12:30:00";
  static constexpr int kMaxTasks =
      100'000;  ///< that wait when the history ends; others are dropped
  /// If at most one of so many jobs started before the first end of a job, the history begins
  /// there.
  static constexpr std::ptrdiff_t kFewBefore = 10;

  struct Row {
    SimJob job;
    double ready = 0;
    double start = 0;
    double end = 0;
    std::pair<std::size_t, std::size_t> place;
  };

  /// A requeue writes the next run's eligible time into the record of the previous run.
  static double ready_of(double submit, const std::optional<double>& eligible, double start) {
    const double said = eligible.value_or(submit);
    return said > start ? submit : std::max(said, submit);
  }

  /// A job that waits when the history ends. One that is not eligible does not wait for GPUs.
  Result<void> waiting(const FieldLine& fields, std::string_view id, double submit,
                       const std::optional<double>& eligible, double limit) {
    const bool later = at_[kEligible] != kNone && !eligible;
    if (at_[kRequest] == kNone || later) return ++history_.unfinished, Result<void>{};
    const auto tres = sacct_tres(fields.text(at_[kRequest]));
    if (!tres) {
      return fields.error(at_[kRequest], "resources, as cpu=8,gres/gpu:a100=4,node=1");
    }
    if (tres->gpus == 0) return ++history_.without_gpus, Result<void>{};
    const Row row{{}, ready_of(submit, eligible, kNever), kNever, kNever, {}};
    // Tasks of an array that wait are one row: 4_[7-9,12%2].
    const int tasks = std::min(tasks_of(id), tasks_left_);
    tasks_left_ -= tasks;
    for (int task = 0; task < tasks; ++task) {
      add(fields, row, *tres, limit);
      if (tasks > 1) rows_.back().job.key += fmt::format(" task {}", task + 1);
    }
    return {};
  }

  static int tasks_of(std::string_view id) {
    const std::size_t from = id.find('[');
    const std::size_t to = id.find_first_of("%]", from == std::string_view::npos ? 0 : from);
    if (from == std::string_view::npos || to == std::string_view::npos) return 1;
    int tasks = 0;
    int first = 0;
    int number = 0;
    bool range = false;
    for (std::size_t at = from + 1; at <= to; ++at) {
      const char c = id[at];
      if (c >= '0' && c <= '9') {
        number = std::min(number * 10 + (c - '0'), kMaxTasks);
      } else if (c == '-') {
        first = std::exchange(number, 0);
        range = true;
      } else {
        tasks = std::min(tasks + (range ? std::max(number - first, 0) + 1 : 1), kMaxTasks);
        number = 0;
        range = false;
      }
    }
    return std::max(tasks, 1);
  }

  void find_begin_and_end() {
    if (rows_.empty()) return;
    history_.end = last_;
    history_.begin = std::min(rows_.front().ready, last_);
    const auto before = std::count_if(rows_.begin(), rows_.end(),
                                      [&](const Row& row) { return row.start < first_end_; });
    if (before * kFewBefore <= std::ssize(rows_)) {
      history_.begin = std::max(history_.begin, first_end_);
    }
    std::vector<double> lengths;
    for (const Row& row : rows_) {
      if (row.end < kNever) lengths.push_back(row.end - row.start);
    }
    usual_ = lengths.empty() ? 0 : median(lengths);
  }

  /// Adds a job to the history.
  void keep(Row& row) {
    SimJob& job = row.job;
    const double begin = history_.begin;
    const bool ends = row.end < kNever;
    const bool starts = row.start < kNever;
    history_.open = history_.open || !ends;
    if (!ends) ++(starts ? history_.running_at_end : history_.waiting_at_end);
    if (ends) {
      job.work = row.end - row.start;
    } else if (job.time_limit < kNever) {
      job.work = job.time_limit;
    } else {
      job.work = std::max(1.0, starts ? 2 * (last_ - row.start) : usual_);
    }
    // Slurm may end jobs slightly after their limit.
    if (job.time_limit < kNever) job.time_limit = std::max(job.time_limit, job.work);
    job.arrival = row.ready - begin;
    if (row.start < begin) {
      job.running_since = row.start - begin;
      job.restarts = false;
      ++history_.running_at_begin;
    } else if (row.ready < begin) {
      ++history_.waiting_at_begin;
    }
    JobResult real;
    real.arrival = job.arrival;
    real.first_start = row.start - begin;
    real.finish = row.end - begin;
    if (starts) {
      const double until = ends ? row.end : last_;
      real.gpu_seconds = (until - std::max(row.start, begin)) * job.gpus;
    }
    history_.real.push_back(real);
    history_.jobs.push_back(std::move(job));
    history_.places.push_back(row.place);
  }

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
    row.place = {fields.line(), fields.column(at_[row.start < kNever ? kTres : kRequest])};
    job.key = std::string(fields.text(at_[kId]));
    job.line.number = row.place.first;
    job.account = optional_text(fields, kAccount);
    job.model = optional_text(fields, kName);
    if (at_[kName] != kNone && at_[kName] + 1 == width_) {
      job.model = std::string(fields.rest(at_[kName]));
    }
    job.gpus = job.min_gpus = job.max_gpus = tres.gpus;
    job.restart_s = kRestartSeconds;
    job.nodes = tres.nodes;
    if (!tres.type.empty()) job.types = {tres.type};
    job.cores_per_gpu = std::max(1, (tres.cpus + tres.gpus - 1) / tres.gpus);
    job.memory_per_gpu = static_cast<long>(std::ceil(tres.memory / tres.gpus));
    if (limit > 0) job.time_limit = limit;
    rows_.push_back(std::move(row));
  }

  const std::string& name_;
  std::array<std::size_t, kColumns> at_{};
  std::size_t width_ = 0;
  std::set<std::string_view> seen_;
  double first_end_ = kNever;
  double last_ = 0;
  double usual_ = 0;            ///< median run time
  int tasks_left_ = kMaxTasks;  ///< of jobs that wait
  std::vector<Row> rows_;
  SacctHistory history_;
};

/// A job keeps its recorded run time, scaled by its GPU count, on at most its recorded nodes.
class SameTime final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    if (job.nodes > 0 && setting.nodes() > job.nodes) return 0;
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

/// Run times are recorded: the models of a replay have little to learn from a few more reports.
constexpr double kRefitShare = 0.1;

/// Drops the number of nodes of a job if the cluster has no type with so many GPUs on so many
/// nodes.
void fit_nodes(const ClusterShape& cluster, SimJob& job) {
  if (job.nodes == 0) return;
  const bool equal = job.gpus % job.nodes == 0;
  const bool some = std::ranges::any_of(cluster.groups, [&](const NodeGroup& group) {
    const bool may =
        job.types.empty() || std::ranges::find(job.types, group.type) != job.types.end();
    return may && group.nodes >= job.nodes && group.gpus_per_node * job.nodes >= job.gpus;
  });
  if (!equal || !some) job.nodes = 0;
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
  suite.refit_share = kRefitShare;
  suite.limits = Limits::kExact;
  suite.types_in_order = true;
  suite.window.first = static_cast<std::size_t>(history->running_at_begin);
  if (history->open) {
    suite.horizon = history->end - history->begin;
    suite.to_horizon = true;
  }
  for (std::size_t i = 0; i < history->jobs.size(); ++i) {
    SimJob& job = history->jobs[i];
    const std::string type = job.types.empty() ? "" : job.types.front();
    if (!type.empty()) job.types = groups_called(cluster, type);
    if (!type.empty() && job.types.empty()) ++history->other_type;
    fit_nodes(cluster, job);
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

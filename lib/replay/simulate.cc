// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/replay/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "lib/policy/algorithms/change_costs.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"

namespace rubato::sim {
namespace {

/// Slurm's own queue order: sort_job_queue2() of slurmctld/job_scheduler.c, for the keys in a
/// snapshot.
bool before(const Job& a, const Job& b) {
  return std::tie(b.tier, b.priority, a.key, a.partition) <
         std::tie(a.tier, a.priority, b.key, b.partition);
}

bool in_bounds(const std::vector<NodeShare>& shares, std::size_t nodes) {
  return std::all_of(shares.begin(), shares.end(),
                     [nodes](const NodeShare& share) { return share.node.within(nodes); });
}

GpuGroup* group_of(Node& node, const std::string& type) {
  for (GpuGroup& group : node.gpus)
    if (group.type == type) return &group;
  return nullptr;
}

bool fits(const NodeShare& share, Node& node) {
  if (!node.usable || share.cores > node.cores_free || share.memory > node.memory_free)
    return false;
  return std::all_of(share.gpus.begin(), share.gpus.end(), [&](const GpuCount& wanted) {
    const GpuGroup* group = group_of(node, wanted.type);
    return group != nullptr && wanted.count <= group->free;
  });
}

int gpus_in(const std::vector<NodeShare>& shares) {
  int gpus = 0;
  for (const NodeShare& share : shares) gpus += share.gpu_count();
  return gpus;
}

/// With changes a round decides at least so often while jobs wait, seconds; not any more after so
/// many of these rounds that decided nothing.
constexpr Seconds kWake = 600;
constexpr int kIdleWakes = 36;
constexpr std::size_t kNoRecord = static_cast<std::size_t>(-1);

/// A run in progress.
struct Run {
  Job job;
  Seconds ends = 0;
  Seconds works = 0;               ///< when its last start or change is over
  double left = 1;                 ///< share of its work, then
  double whole = 1;                ///< seconds that all of it takes in this allocation
  std::size_t record = kNoRecord;  ///< in SimulationOutcome::runs; none: it ran at the start
};

/// A run that was interrupted.
struct Interrupted {
  double left = 1;  ///< share of its work
  std::size_t record = 0;
};

class Simulation {
 public:
  Simulation(const SimulationInput& workload, const Models& models, const Config& config,
             const RunTime& run_time, const SimulationBounds& bounds)
      : models_(models),
        config_(config),
        run_time_(run_time),
        bounds_(bounds),
        now_(workload.begin) {
    state_ = workload.cluster;
    state_.jobs.clear();
    for (Node& node : state_.nodes) {
      node.cores_free = node.cores;
      node.memory_free = node.memory;
      for (GpuGroup& group : node.gpus) group.free = group.total;
    }
    for (const RunningAtStart& holder : workload.holders) hold(holder);
    for (const JobArrival& arrival : workload.arrivals) queue(arrival);
  }

  SimulationOutcome run() {
    while (true) {
      end_runs();
      admit();
      if (!pending_.empty()) {
        decisions_ += static_cast<std::int64_t>(pending_.size());
        if (bounds_.changes) decisions_ += static_cast<std::int64_t>(running_.size());
        if (out_.rounds >= bounds_.max_rounds || decisions_ > bounds_.max_decisions) {
          out_.complete = false;
          break;
        }
        decide();
      }
      if (bounds_.until_start && running_.contains(*bounds_.until_start)) break;
      const std::optional<Seconds> next = next_event();
      if (!next) break;
      now_ = *next;
    }
    out_.until = now_;
    for (const Job& job : pending_) out_.waited.push_back(job.key);
    for (const auto& [when, arrival] : coming_) out_.waited.push_back(arrival.job.key);
    return std::move(out_);
  }

 private:
  void hold(const RunningAtStart& holder) {
    if (!in_bounds(holder.job.allocation, state_.nodes.size())) return;
    Run run{holder.job, std::max(holder.ends, now_ + 1)};
    run.job.state = JobState::kRunning;
    run.job.end_limit = add_seconds(run.job.start, run.job.time_limit);
    if (run.job.hints) run.job.hints->resize = Resize::kNone;  // how long it has left is certain
    keep(std::move(run));
  }

  void keep(Run run) {
    take(run.job.allocation, 1);
    ends_.emplace(run.ends, run.job.key);
    running_.emplace(run.job.key, std::move(run));
  }

  void queue(const JobArrival& arrival) {
    coming_.emplace(std::pair(arrival.enters, number_++), arrival);
  }

  // Recorded allocations may overlap, so clip the free resources to those that exist.
  void take(const std::vector<NodeShare>& shares, int sign) {
    for (const NodeShare& share : shares) {
      Node& node = state_.nodes[share.node];
      node.cores_free = std::clamp(node.cores_free - sign * share.cores, 0, node.cores);
      node.memory_free = std::clamp<MiB>(node.memory_free - sign * share.memory, 0, node.memory);
      for (const GpuCount& gpus : share.gpus) {
        GpuGroup* group = group_of(node, gpus.type);
        if (group == nullptr) continue;
        group->free = std::clamp(group->free - sign * gpus.count, 0, group->total);
      }
    }
  }

  void end_runs() {
    while (!ends_.empty() && ends_.begin()->first <= now_) {
      const auto run = running_.find(ends_.begin()->second);
      ends_.erase(ends_.begin());
      take(run->second.job.allocation, -1);
      running_.erase(run);
    }
  }

  [[nodiscard]] bool waits(const JobKey& key) const {
    return std::any_of(pending_.begin(), pending_.end(),
                       [&](const Job& job) { return job.key == key; });
  }

  void admit() {
    for (auto at = coming_.begin(); at != coming_.end() && at->first.first <= now_;) {
      const JobKey key = at->second.job.key;
      if (running_.contains(key) || waits(key)) {  // its previous run is not over
        ++at;
        continue;
      }
      Job job = std::move(at->second.job);
      job.state = JobState::kPending;
      job.block = Block::kNone;
      job.allocation.clear();
      // What was seen of its real run, at the time of that.
      exempt_[job.key] =
          job.exempt_until > 0 ? std::max<Seconds>(job.exempt_until - job.start, 0) : 0;
      job.exempt_until = 0;
      job.without_step = false;
      job.batch_node = {};
      job.start = job.end_limit = 0;
      job.eligible = at->first.first;
      idle_ = 0;
      wait(std::move(job));
      at = coming_.erase(at);
    }
  }

  void wait(Job job) {
    pending_.insert(std::lower_bound(pending_.begin(), pending_.end(), job, before),
                    std::move(job));
  }

  [[nodiscard]] std::optional<Seconds> next_event() const {
    std::optional<Seconds> next;
    if (!ends_.empty()) next = ends_.begin()->first;
    const auto later = coming_.upper_bound(std::pair(now_, std::int64_t{kForever}));
    if (later != coming_.end() && (!next || later->first.first < *next)) next = later->first.first;
    if (wake_ > now_) next = std::min(next.value_or(wake_), wake_);
    return next;
  }

  /// When a round may decide otherwise although no job came or ended; 0: then.
  [[nodiscard]] Seconds wake_after(const Plan& plan) {
    if (!bounds_.changes || pending_.empty()) return 0;
    bool stopped = false;
    for (const Change& change : plan.changes) stopped |= change.action == ChangeAction::kStop;
    if (stopped) return now_ + 1;  // the account of its service is closed
    idle_ = plan.changes.empty() && plan.starts.empty() ? idle_ + 1 : 0;
    const bool changeable = std::ranges::any_of(running_, [](const auto& one) {
      return one.second.record != kNoRecord && hints_change(one.second.job);
    });
    if (!changeable || idle_ > kIdleWakes) return 0;
    Seconds wake = now_ + kWake;
    for (const Stay& stay : plan.stays)
      if (stay.until > now_) wake = std::min(wake, stay.until);
    return wake;
  }

  /// The input of a round now; `queue` waits.
  [[nodiscard]] Snapshot look(std::vector<Job> queue, bool remember) const {
    Snapshot snapshot;
    snapshot.cluster = state_.cluster;
    snapshot.slurm_version = state_.slurm_version;
    snapshot.taken = now_;
    snapshot.nodes = state_.nodes;
    snapshot.node_sets = state_.node_sets;
    snapshot.partitions = state_.partitions;
    snapshot.windows = state_.windows;
    if (remember) snapshot.memory = state_.memory;
    snapshot.jobs = std::move(queue);
    int rank = 0;
    for (Job& job : snapshot.jobs) job.rank = rank++;
    for (const auto& [key, run] : running_) snapshot.jobs.push_back(run.job);
    return snapshot;
  }

  void decide() {
    ++out_.rounds;
    Snapshot snapshot = look(pending_, true);
    if (bounds_.changes) {
      fill_change_costs(snapshot, config_);
      for (Job& job : snapshot.jobs) {
        const auto run = running_.find(job.key);
        if (run == running_.end()) continue;
        const auto starts = static_cast<double>(run->second.works - now_);
        job.starting = std::max(job.starting, starts);
      }
      report(snapshot);
    }
    const Plan plan = round(snapshot, models_, config_, now_);
    state_.memory = plan.memory;
    if (bounds_.changes) make_changes(plan.changes, snapshot);
    for (const Start& start : plan.starts) begin(start, plan, snapshot);
    wake_ = wake_after(plan);
  }

  /// Share of the work of a run that is left.
  [[nodiscard]] double left_of(const Run& run) const {
    const auto worked = static_cast<double>(std::max<Seconds>(now_ - run.works, 0));
    return std::clamp(run.left - worked / run.whole, 0.0, 1.0);
  }

  /// What running jobs of a known job type would have reported by now.
  void report(Snapshot& snapshot) const {
    if (!models_.forecasts().measured()) return;
    for (const auto& [key, run] : running_) {
      const bool named = run.job.hints && !run.job.hints->job_type.empty();
      if (run.record == kNoRecord || run.job.allocation.empty() || !named) continue;
      const NodeShare& first = run.job.allocation.front();
      const std::string type = first.gpus.empty() ? "" : first.gpus.front().type;
      const Forecast forecast = forecast_at({snapshot, models_, config_, now_}, run.job,
                                            resources_of(type, run.job.allocation));
      if (!forecast.known_profile || !(forecast.goodput() > 0)) continue;
      Progress progress;
      progress.job = key;
      progress.restarts = run.job.restarts;
      progress.time = now_;
      progress.throughput = forecast.goodput();
      progress.gpus = gpus_in(run.job.allocation);
      progress.samples = std::llround((1 - left_of(run)) * run.whole * progress.throughput);
      fold_report(progress, snapshot.memory);
    }
  }

  [[nodiscard]] bool has_room(const std::vector<NodeShare>& shares) {
    return !shares.empty() && in_bounds(shares, state_.nodes.size()) &&
           std::all_of(shares.begin(), shares.end(),
                       [&](const auto& share) { return fits(share, state_.nodes[share.node]); });
  }

  /// All jobs that change give their GPUs back first: one may get those of another.
  void make_changes(const std::vector<Change>& changes, const Snapshot& snapshot) {
    std::vector<std::pair<const Change*, Run>> made;
    for (const Change& change : changes) {
      const auto run = running_.find(change.job);
      if (change.action == ChangeAction::kNotify || run == running_.end()) continue;
      if (run->second.record == kNoRecord) continue;
      take(run->second.job.allocation, -1);
      ends_.erase({run->second.ends, change.job});
      made.emplace_back(&change, std::move(run->second));
      running_.erase(run);
    }
    for (auto& [change, run] : made) make_change(*change, std::move(run), snapshot);
  }

  void make_change(const Change& change, Run run, const Snapshot& snapshot) {
    const double left = left_of(run);
    const bool live =
        change.action == ChangeAction::kShrink || change.action == ChangeAction::kGrow;
    const bool room = has_room(change.shares);
    if (!room && !change.shares.empty()) ++out_.refused;
    if (live && !room && has_room(run.job.allocation)) return keep(std::move(run));
    CompletedRun& record = out_.runs[run.record];
    ++(live && room ? record.resizes : record.restarts);
    if (!live || !room) {
      ++run.job.restarts;
      record.end = 0;
      interrupted_[run.job.key] = {left, run.record};
      run.job.state = JobState::kPending;
      run.job.allocation.clear();
      run.job.start = run.job.end_limit = run.job.exempt_until = 0;
      if (!room) return wait(std::move(run.job));
    }
    Start start;
    start.job = change.job;
    start.partition = change.partition;
    start.gpu_type = change.gpu_type;
    start.shares = change.shares;
    if (!live) return launch(std::move(run.job), start, snapshot);
    run.job.allocation = change.shares;
    resume(run, start, left, change.cost);
    record_place(start, run.ends, record);
    keep(std::move(run));
  }

  /// It works on from `cost` seconds after now.
  void resume(Run& run, const Start& start, double left, double cost) {
    run.whole = static_cast<double>(std::max<Seconds>(run_time_(run.job, start), 1));
    run.left = left;
    run.works = add_seconds(now_, std::llround(cost));
    const double rest = left * run.whole;
    const bool ends_ever = rest < static_cast<double>(kForever);
    const Seconds takes = ends_ever ? std::max<Seconds>(std::llround(rest), 1) : kForever;
    const Seconds ends = add_seconds(run.works, takes);
    run.ends = std::max(std::min(ends, run.job.end_limit), now_ + 1);
  }

  static void record_place(const Start& start, Seconds end, CompletedRun& record) {
    record.end = end;
    record.gpu_type = start.gpu_type;
    record.shares = start.shares;
    record.gpus = gpus_in(start.shares);
  }

  void begin(const Start& start, const Plan& plan, const Snapshot& snapshot) {
    const auto job = std::find_if(pending_.begin(), pending_.end(), [&](const Job& one) {
      return one.key == start.job && one.partition == start.partition;
    });
    if (job == pending_.end()) return;
    Start made = start;
    if (made.shares.empty()) made = as_slurm_would(*job, plan).value_or(start);
    if (made.shares.empty()) return;
    if (!has_room(made.shares)) {
      if (!start.shares.empty()) ++out_.refused;  // else the plan left the nodes to Slurm
      return;
    }
    Job begins = std::move(*job);
    pending_.erase(job);
    launch(std::move(begins), made, snapshot);
  }

  /// Only a start after an interruption costs time.
  void launch(Job job, const Start& start, const Snapshot& snapshot) {
    Run run;
    Interrupted before;
    const auto again = interrupted_.find(job.key);
    double cost = 0;
    if (again != interrupted_.end()) {
      before = again->second;
      interrupted_.erase(again);
      const auto seen = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                     [&](const Job& one) { return one.key == job.key; });
      if (seen != snapshot.jobs.end()) cost = seen->costs.restart;
    } else {
      before.record = out_.runs.size();
      CompletedRun& record = out_.runs.emplace_back();
      record.job = job.key;
      record.partition = job.partition;
      record.start = now_;
    }
    run.record = before.record;
    run.job = std::move(job);
    run.job.state = JobState::kRunning;
    run.job.start = now_;
    const auto exempt = exempt_.find(run.job.key);
    if (exempt != exempt_.end() && exempt->second > 0) run.job.exempt_until = now_ + exempt->second;
    run.job.end_limit = add_seconds(now_, std::max<Seconds>(1, run.job.time_limit));
    run.job.allocation = start.shares;
    resume(run, start, before.left, cost);
    record_place(start, run.ends, out_.runs[run.record]);
    keep(std::move(run));
  }

  /// Placement of a start for which the plan leaves the nodes to Slurm. Uses the placement of a
  /// round with only this job, without nodes whose reservations it would overlap.
  [[nodiscard]] std::optional<Start> as_slurm_would(const Job& job, const Plan& plan) const {
    Job alone = job;
    alone.managed = true;
    alone.hints.reset();  // Slurm starts it as requested
    alone.tasks = 1;
    alone.may_preempt = alone.preempting = false;
    Snapshot snapshot = look({std::move(alone)}, false);
    if (!job.node_set.within(snapshot.node_sets.size())) return std::nullopt;
    std::set<NodeIndex> kept;
    const Seconds end = add_seconds(now_, job.time_limit);
    for (const Reservation& reserved : plan.reservations) {
      if (reserved.job == job.key || end <= reserved.start) continue;
      for (const NodeShare& share : reserved.shares) kept.insert(share.node);
    }
    std::erase_if(snapshot.node_sets[job.node_set],
                  [&](NodeIndex node) { return kept.contains(node); });
    Config placing = config_;
    if (placing.mode == Mode::kElastic) placing.mode = Mode::kPlace;  // it comes into no market
    const Plan one = round(snapshot, models_, placing, now_);
    if (one.starts.empty() || one.starts.front().shares.empty()) return std::nullopt;
    return one.starts.front();
  }

  const Models& models_;
  const Config& config_;
  const RunTime& run_time_;
  const SimulationBounds& bounds_;
  Seconds now_ = 0;
  Seconds wake_ = 0;  ///< of the last round
  int idle_ = 0;      ///< rounds since the last arrival, start or change
  std::int64_t number_ = 0;
  std::int64_t decisions_ = 0;
  Snapshot state_;                                                 ///< without jobs
  std::map<std::pair<Seconds, std::int64_t>, JobArrival> coming_;  ///< sorted by time, then in the
                                                                   ///< order given
  std::vector<Job> pending_;                                       ///< in Slurm's order
  std::map<JobKey, Run> running_;
  std::map<JobKey, Interrupted> interrupted_;
  std::map<JobKey, Seconds> exempt_;  ///< after each start, from changes
  std::set<std::pair<Seconds, JobKey>> ends_;
  SimulationOutcome out_;
};

}  // namespace

SimulationOutcome simulate(const SimulationInput& workload, const Models& models,
                           const Config& config, const RunTime& run_time,
                           const SimulationBounds& bounds) {
  return Simulation(workload, models, config, run_time, bounds).run();
}

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/replay/simulate.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

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

class Simulation {
 public:
  Simulation(const SimulationInput& workload, const Models& models, const Config& config,
             const RunTime& run_time)
      : models_(models), config_(config), run_time_(run_time), now_(workload.begin) {
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

  SimulationOutcome run(const SimulationBounds& bounds) {
    while (true) {
      end_runs();
      admit();
      if (!pending_.empty()) {
        decisions_ += static_cast<std::int64_t>(pending_.size());
        if (out_.rounds >= bounds.max_rounds || decisions_ > bounds.max_decisions) {
          out_.complete = false;
          break;
        }
        decide();
      }
      if (bounds.until_start && running_.contains(*bounds.until_start)) break;
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
    Job job = holder.job;
    job.state = JobState::kRunning;
    job.end_limit = add_seconds(job.start, job.time_limit);
    take(job.allocation, 1);
    ends_.emplace(std::max(holder.ends, now_ + 1), job.key);
    running_.emplace(job.key, std::move(job));
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
      take(run->second.allocation, -1);
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
      job.start = job.end_limit = 0;
      job.eligible = at->first.first;
      pending_.insert(std::lower_bound(pending_.begin(), pending_.end(), job, before),
                      std::move(job));
      at = coming_.erase(at);
    }
  }

  [[nodiscard]] std::optional<Seconds> next_event() const {
    std::optional<Seconds> next;
    if (!ends_.empty()) next = ends_.begin()->first;
    const auto later = coming_.upper_bound(std::pair(now_, std::int64_t{kForever}));
    if (later != coming_.end() && (!next || later->first.first < *next)) next = later->first.first;
    return next;
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
    for (const auto& [key, job] : running_) snapshot.jobs.push_back(job);
    return snapshot;
  }

  void decide() {
    ++out_.rounds;
    const Plan plan = round(look(pending_, true), models_, config_, now_);
    state_.memory = plan.memory;
    for (const Start& start : plan.starts) begin(start, plan);
  }

  void begin(const Start& start, const Plan& plan) {
    const auto job = std::find_if(pending_.begin(), pending_.end(), [&](const Job& one) {
      return one.key == start.job && one.partition == start.partition;
    });
    if (job == pending_.end()) return;
    Start made = start;
    if (made.shares.empty()) made = as_slurm_would(*job, plan).value_or(start);
    if (made.shares.empty()) return;
    const bool room = in_bounds(made.shares, state_.nodes.size()) &&
                      std::all_of(made.shares.begin(), made.shares.end(), [&](const auto& share) {
                        return fits(share, state_.nodes[share.node]);
                      });
    if (!room) {
      if (!start.shares.empty()) ++out_.refused;  // else the plan left the nodes to Slurm
      return;
    }
    launch(*job, made);
    pending_.erase(job);
  }

  void launch(Job job, const Start& start) {
    CompletedRun run;
    run.job = job.key;
    run.partition = job.partition;
    run.start = now_;
    run.shares = start.shares;
    run.gpu_type = start.gpu_type;
    for (const NodeShare& share : start.shares) run.gpus += share.gpu_count();
    const Seconds limit = std::max<Seconds>(1, job.time_limit);
    run.end = add_seconds(now_, std::clamp<Seconds>(run_time_(job, start), 1, limit));
    job.state = JobState::kRunning;
    job.start = now_;
    job.end_limit = add_seconds(now_, job.time_limit);
    job.allocation = start.shares;
    take(job.allocation, 1);
    ends_.emplace(run.end, job.key);
    running_.emplace(job.key, std::move(job));
    out_.runs.push_back(std::move(run));
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
    const Plan one = round(snapshot, models_, config_, now_);
    if (one.starts.empty() || one.starts.front().shares.empty()) return std::nullopt;
    return one.starts.front();
  }

  const Models& models_;
  const Config& config_;
  const RunTime& run_time_;
  Seconds now_ = 0;
  std::int64_t number_ = 0;
  std::int64_t decisions_ = 0;
  Snapshot state_;                                                 ///< without jobs
  std::map<std::pair<Seconds, std::int64_t>, JobArrival> coming_;  ///< sorted by time, then in the
                                                                   ///< order given
  std::vector<Job> pending_;                                       ///< in Slurm's order
  std::map<JobKey, Job> running_;
  std::set<std::pair<Seconds, JobKey>> ends_;
  SimulationOutcome out_;
};

}  // namespace

SimulationOutcome simulate(const SimulationInput& workload, const Models& models,
                           const Config& config, const RunTime& run_time,
                           const SimulationBounds& bounds) {
  return Simulation(workload, models, config, run_time).run(bounds);
}

}  // namespace rubato::sim

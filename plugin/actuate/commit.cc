// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/commit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/core/resize_request.h"
#include "lib/policy/memory.h"
#include "plugin/actuate/start.h"
#include "plugin/slurm/read/node_slots.h"

namespace rubato {

namespace {

using NodeIndices = std::set<NodeIndex>;

StartOutcome not_now(const char* words) {
  return {.result = StartResult::kNotNow, .words = words, .nodes = {}, .label = {}};
}

StartOutcome refused(std::string words) {
  return {.result = StartResult::kRefused, .words = std::move(words), .nodes = {}, .label = {}};
}

// Fingerprint of the free resources on the nodes that a job may use, and of the nodes it must not.
std::uint64_t room_of(const Snapshot& snapshot, const Job& job, const std::vector<int>& never) {
  static const NodeSet none;
  Hasher hash;
  for (const NodeIndex index : job.node_set.valid() ? snapshot.node_sets[job.node_set] : none) {
    const Node& node = snapshot.nodes[index];
    hash.add(index.value()).add(node.cores_free).add(node.memory_free);
    for (const GpuGroup& gpus : node.gpus) hash.add(gpus.free);
    hash.add((node.usable ? 1 : 0) + (node.coming ? 2 : 0) + (node.powered_down ? 4 : 0));
  }
  for (const int node : never) hash.add(node);
  return hash.value();
}

std::string size_words(const Start& start) {
  if (start.on_cpus) return " GPUs=0";
  return start.gpus > 0 ? " GPUs=" + std::to_string(start.gpus) : "";
}

class Committer {
 public:
  Committer(const Snapshot& snapshot, const Plan& plan, const Config& config, Pair& pair,
            BusyTries& busy, CommitCount& count)
      : snapshot_(snapshot), plan_(plan), config_(config), pair_(pair), busy_(busy), count_(count) {
    for (const Job& job : snapshot.jobs)
      if (job.state == JobState::kPending)
        jobs_.try_emplace({job.key, job.partition, job.reservation}, &job);
  }

  [[nodiscard]] bool done() const { return next_ >= plan_.starts.size(); }
  void step(const NodeSlots& slots);
  /// Starts of managed jobs that slurmctld refused.
  [[nodiscard]] const std::vector<RefusedStart>& refusals() const { return refusals_; }

 private:
  using EntryKey = std::tuple<JobKey, std::string, std::string>;

  const Job* job_of(const Start& start) const {
    const auto at = jobs_.find({start.job, start.partition, start.reservation});
    return at != jobs_.end() ? at->second : nullptr;
  }

  // It was tried without room, since it may preempt others.
  [[nodiscard]] bool preempts(const Start& start) const {
    const Job* job = job_of(start);
    return start.shares.empty() && job != nullptr && (job->may_preempt || job->preempting);
  }
  NodeIndices kept_from(const Job& job) const;
  [[nodiscard]] Result<void> plan_size(const Start& start, const Job& job);
  [[nodiscard]] StartConstraints constraints_of(const Start& start, const Job& job) const;
  StartOutcome try_planned(const Start& start, const Job& job, const NodeSlots& slots);
  StartOutcome ask(const Start& start, const Job& job, const std::vector<int>& never);
  StartOutcome try_anywhere(const Start& start, const Job& job, const NodeSlots& slots);
  void note(const Start& start, const StartOutcome& outcome, bool planned);
  void block_partition(const Job& job);

  const Snapshot& snapshot_;
  const Plan& plan_;
  const Config& config_;
  Pair& pair_;
  BusyTries& busy_;
  std::map<EntryKey, const Job*> jobs_;
  std::set<std::string> failed_partitions_;
  NodeIndices failed_nodes_;
  std::size_t next_ = 0;
  std::optional<Job> planned_;  // the job of the start in hand at its planned size
  std::vector<RefusedStart> refusals_;
  CommitCount& count_;
};

// Whole nodes that `job` must not use when Slurm chooses its nodes: nodes reserved for other jobs,
// nodes that stock backfill planned for unmanaged jobs before it, nodes of later starts in this
// plan, and for a GPU job nodes of changes under way.
NodeIndices Committer::kept_from(const Job& job) const {
  NodeIndices kept;
  const Seconds end = add_seconds(snapshot_.taken, job.time_limit);
  for (const Reservation& reservation : plan_.reservations) {
    // A drain starts at kForever: it is in the way of jobs without a limit only.
    const bool ends_before = end <= reservation.start && end < kForever;
    if (reservation.job == job.key || ends_before) continue;
    const auto holder =
        std::find_if(snapshot_.jobs.begin(), snapshot_.jobs.end(),
                     [&](const Job& other) { return other.key == reservation.job; });
    // An unmanaged job of higher order is not held up by a reservation below it.
    if (!job.managed && holder != snapshot_.jobs.end() && job.rank < holder->rank) continue;
    for (const NodeShare& share : reservation.shares) kept.insert(share.node);
  }
  if (job.managed && !config_.off(Mechanism::kStockPlan))
    for (const Job& other : snapshot_.jobs) {
      const bool before = other.state == JobState::kPending && other.rank < job.rank;
      // The start of a managed job is in its reservation.
      const bool planned = before && !other.managed && other.stock_start != 0;
      if (!planned || end <= other.stock_start) continue;
      kept.insert(other.stock_nodes.begin(), other.stock_nodes.end());
    }
  if (job.request.wants_gpus()) {
    for (const AskedResize& change : plan_.memory.asked_resizes)
      if (!change.over() && change.job.id != job.key.id)
        for (const NodeShare& share : change.shares) kept.insert(share.node);
  }
  for (std::size_t i = next_; i < plan_.starts.size(); ++i)
    if (plan_.starts[i].job != job.key)
      for (const NodeShare& share : plan_.starts[i].shares) kept.insert(share.node);
  return kept;
}

// Sets planned_ if the start has another size than requested.
Result<void> Committer::plan_size(const Start& start, const Job& job) {
  planned_.reset();
  const bool resized = start.on_cpus || (start.gpus > 0 && start.gpus != requested_gpus(job));
  if (!resized) return {};
  auto sized = at_size(job, start.on_cpus ? 0 : start.gpus, start.gpu_type);
  if (!sized) return tl::unexpected(sized.error());
  planned_ = std::move(*sized);
  return {};
}

StartConstraints Committer::constraints_of(const Start& start, const Job& job) const {
  StartConstraints constraints;
  if (planned_) {
    constraints.asked = &job;
    constraints.planned = &*planned_;
  }
  if (start.managed && !config_.off(Mechanism::kJobEnv)) constraints.job = &job;
  return constraints;
}

StartOutcome Committer::try_planned(const Start& start, const Job& job, const NodeSlots& slots) {
  const auto only = slots.of(start.shares);
  if (!only) return not_now("a planned node is gone");
  StartConstraints constraints = constraints_of(start, job);
  constraints.only = &*only;
  for (const NodeShare& share : start.shares)
    if (snapshot_.nodes[share.node].gpus.size() > 1 && !config_.off(Mechanism::kType))
      constraints.gpu_type = start.gpu_type;
  return try_start(start, constraints, pair_);
}

StartOutcome Committer::try_anywhere(const Start& start, const Job& job, const NodeSlots& slots) {
  NodeIndices kept = config_.off(Mechanism::kReserve) ? NodeIndices{} : kept_from(job);
  if (!start.managed) kept.insert(failed_nodes_.begin(), failed_nodes_.end());
  const auto never = slots.of(std::vector<NodeIndex>(kept.begin(), kept.end()));
  if (!never) return not_now("the node table changed");
  if (start.managed) return ask(start, job, *never);
  // While nothing changed, slurmctld would refuse an unmanaged job again.
  const std::uint64_t room = room_of(snapshot_, job, *never);
  const auto key = std::pair(start.job, start.partition + '\n' + start.reservation);
  const auto before = busy_.find(key);
  if (before != busy_.end() && before->second == room)
    return {.result = StartResult::kStillBusy, .words = {}, .nodes = {}, .label = {}};
  StartOutcome outcome = ask(start, job, *never);
  if (outcome.result == StartResult::kBusy)
    busy_[key] = room;
  else
    busy_.erase(key);
  return outcome;
}

StartOutcome Committer::ask(const Start& start, const Job& job, const std::vector<int>& never) {
  StartConstraints constraints = constraints_of(start, job);
  constraints.never = &never;
  return try_start(start, constraints, pair_);
}

void Committer::step(const NodeSlots& slots) {
  const Start& start = plan_.starts[next_++];
  const Job* job = job_of(start);
  if (!start.after.empty()) return;  // a later round starts it, once its nodes are free
  if (job == nullptr || (!start.managed && config_.off(Mechanism::kWalk))) return;
  if (const auto sized = plan_size(start, *job); !sized) {
    note(start, refused("another size: " + sized.error().text), true);
    return;
  }
  if (start.managed && !start.shares.empty()) {
    StartOutcome outcome = try_planned(start, *job, slots);
    const bool again = start.elsewhere && (outcome.result == StartResult::kBusy ||
                                           outcome.result == StartResult::kRefused);
    if (again) outcome = try_anywhere(start, *job, slots);
    note(start, outcome, !again);
    return;
  }
  if (!start.managed && failed_partitions_.contains(start.partition)) return;
  const StartOutcome outcome = try_anywhere(start, *job, slots);
  note(start, outcome, true);
  const bool busy =
      outcome.result == StartResult::kBusy || outcome.result == StartResult::kStillBusy;
  if (!start.managed && busy) block_partition(*job);
}

void Committer::block_partition(const Job& job) {
  failed_partitions_.insert(job.partition);
  for (const Partition& partition : snapshot_.partitions)
    if (partition.name == job.partition && partition.node_set.valid()) {
      const NodeSet& nodes = snapshot_.node_sets[partition.node_set];
      failed_nodes_.insert(nodes.begin(), nodes.end());
    }
}

void Committer::note(const Start& start, const StartOutcome& outcome, bool planned) {
  switch (outcome.result) {
    case StartResult::kStarted:
      ++(start.managed ? count_.started : count_.started_unmanaged);
      if (!planned) ++count_.elsewhere;
      log().info("started JobId={} NodeList={} Partition={}{}{}{}{}", outcome.label, outcome.nodes,
                 start.partition, start.gpu_type.empty() ? "" : " GpuType=", start.gpu_type,
                 size_words(start), planned ? "" : " (not on the nodes planned)");
      break;
    case StartResult::kBusy:
    case StartResult::kLimit:
    case StartResult::kRefused:
      ++count_.refused;
      log().debug("slurmctld does not start JobId={}{}{}{} now: {}", start.job.id,
                  start.gpu_type.empty() ? "" : " GpuType=", start.gpu_type, size_words(start),
                  outcome.words);
      if (start.managed) {
        refusals_.push_back(
            {.job = start.job, .reason = outcome.words, .planned = !preempts(start)});
      }
      break;
    case StartResult::kGone:
    case StartResult::kNotNow:
    case StartResult::kStillBusy:
      break;
  }
}

}  // namespace

void commit(const Snapshot& snapshot, Plan& plan, const Config& config, Pair& pair,
            LockTimes& times, BusyTries& busy, CommitCount& count) {
  Committer committer(snapshot, plan, config, pair, busy, count);
  while (!committer.done()) {
    const HeldLocks locks(LockKind::kAct, LockUse::kStart, times,
                          !config.off(Mechanism::kServerCount));
    if (!locks.held()) break;
    const NodeSlots slots(snapshot);
    do committer.step(slots);
    while (!committer.done() && locks.held_ms() < config.lock_slice_ms);
  }
  plan.memory = fold_refusals(std::move(plan.memory), committer.refusals(), plan.made);
}

}  // namespace rubato

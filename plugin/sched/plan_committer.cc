// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/plan_committer.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "plugin/actuate/test_actions.h"
#include "plugin/slurm/stock/controller.h"

namespace rubato {

namespace {

// Seconds from the end of slurmctld's recovery, and from the registration of the last node of a
// job: slurmd takes a moment to end a run that slurmctld does not know.
constexpr double kSettle = 3.0;
constexpr double kMaxSettle = 60.0;  // a node that does not report by then is not waited for
constexpr auto kQuietForStart = std::chrono::milliseconds(5);

// Pending jobs that may use a node whose slurmd has not reported yet.
std::set<JobKey> waiting_for_nodes(const Snapshot& snapshot) {
  std::vector<bool> waits;  // by node set
  for (const NodeSet& nodes : snapshot.node_sets) {
    waits.push_back(std::any_of(nodes.begin(), nodes.end(), [&](NodeIndex index) {
      return snapshot.nodes[index].unregistered;
    }));
  }
  std::set<JobKey> jobs;
  for (const Job& job : snapshot.jobs) {
    const bool pending = job.state == JobState::kPending && job.node_set.valid();
    if (pending && waits[job.node_set]) jobs.insert(job.key);
  }
  return jobs;
}

// slurmctld can record a start as one without GPUs when slurmd's first report meets it (seen with
// stock Slurm 22.05.8). Where Slurm itself chooses the nodes of a start, this does not help.
bool gets_gpus_unreported(const Snapshot& snapshot, const Start& start) {
  return std::any_of(start.shares.begin(), start.shares.end(), [&](const NodeShare& share) {
    return share.gpu_count() > 0 && share.node.within(snapshot.nodes.size()) &&
           snapshot.nodes[share.node].unregistered;
  });
}

// Adds what one commit did to `all`, and has slurmctld save its starts, also if the commit throws.
class NotedCommit {
 public:
  NotedCommit(CommitCount& all, bool save) : all_(all), save_(save) {}
  ~NotedCommit() {
    if (count_.started + count_.started_unmanaged > 0 && save_) save_soon();
    all_.started += count_.started;
    all_.started_unmanaged += count_.started_unmanaged;
    all_.elsewhere += count_.elsewhere;
    all_.refused += count_.refused;
  }
  NotedCommit(const NotedCommit&) = delete;
  NotedCommit& operator=(const NotedCommit&) = delete;

  [[nodiscard]] CommitCount& count() { return count_; }

 private:
  CommitCount& all_;
  bool save_;
  CommitCount count_;
};

}  // namespace

void PlanCommitter::wait_for_quiet(const Config& config) const {
  if (!config.off(Mechanism::kQuiet)) pacer_.wait_for_quiet(kQuietForStart);
}

// slurmctld may have recovered a job as pending that runs all the same, if its start was not saved.
// The job's node reports it when it registers, and is told to end it. A second launch before that
// is a duplicate for slurmd, and the node is drained. So a recovered job waits until all nodes that
// it may use have registered, and a new one with GPUs until those of its start have.
void PlanCommitter::drop_unsettled(const Snapshot& snapshot, Plan& plan, const Config& config) {
  const SteadyTime now = clock_->steady();
  if (!recovered_) recovered_ = now;
  const bool over = seconds_since(*clock_, *recovered_) >= kMaxSettle;
  if (over || config.off(Mechanism::kSettle)) return;
  const std::set<JobKey> waiting = waiting_for_nodes(snapshot);
  for (auto& [job, settling] : unsettled_) {
    // Counts from the first commit that finds all of its nodes registered.
    if (settling.waits) settling = {now, waiting.contains(job)};
  }
  for (const JobKey& job : waiting) unsettled_[job] = {now, true};
  std::erase_if(plan.starts, [&](const Start& start) {
    if (gets_gpus_unreported(snapshot, start)) return true;
    const auto waited = unsettled_.find(start.job);
    const SteadyTime since = waited != unsettled_.end() ? waited->second.since : *recovered_;
    return start.job.submit < began_time_ && seconds_since(*clock_, since) < kSettle;
  });
}

void PlanCommitter::commit(const Snapshot& snapshot, Plan& plan, const Config& config,
                           const Memory& before, bool full) {
  act_for_tests(snapshot, config, times_);
  if (full) busy_.clear();
  drop_unsettled(snapshot, plan, config);
  if (!plan.starts.empty()) wait_for_quiet(config);
  {
    NotedCommit noted(counts_, !config.off(Mechanism::kSave));
    rubato::commit(snapshot, plan, config, pair_, times_, busy_, noted.count());
  }
  // The texts in jobs are for people and can wait; the reservations are for the gate.
  if (!full) {
    if (plan.memory.reservations == before.reservations) return;
    WriteBack::reserve(snapshot, plan, config, pair_, times_);
    return;
  }
  wait_for_quiet(config);
  write_back_.write(snapshot, plan, config, pair_, times_);
  comments_.write(snapshot, plan, config, times_);
}

void PlanCommitter::withdraw(const Config& config) {
  write_back_.clear(config, pair_, times_);
  comments_.clear(config, times_);
}

}  // namespace rubato

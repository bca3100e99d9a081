// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/plan_committer.h"

#include <chrono>
#include <vector>

#include "plugin/slurm/stock/controller.h"

namespace rubato {

namespace {

constexpr double kSettle = 3.0;  // seconds from the loop's begin; nodes register at once
constexpr auto kQuietForStart = std::chrono::milliseconds(5);

}  // namespace

void PlanCommitter::wait_for_quiet(const Config& config) const {
  if (!config.off(Mechanism::kQuiet)) pacer_.wait_for_quiet(kQuietForStart);
}

// slurmctld may have recovered a job as pending that runs all the same, if its start was not saved.
// The job's node reports it when it registers, and is told to end it. A second launch before that
// is a duplicate for slurmd, and the node is drained.
void PlanCommitter::drop_unsettled(Plan& plan, const Config& config) const {
  if (seconds_since(*clock_, began_) >= kSettle || config.off(Mechanism::kSettle)) return;
  std::erase_if(plan.starts, [this](const Start& start) { return start.job.submit < began_time_; });
}

void PlanCommitter::commit(const Snapshot& snapshot, Plan& plan, const Config& config,
                           const Memory& before, bool full) {
  if (full) busy_.clear();
  drop_unsettled(plan, config);
  if (!plan.starts.empty()) wait_for_quiet(config);
  const CommitCount count = rubato::commit(snapshot, plan, config, pair_, times_, busy_);
  if (count.started + count.started_unmanaged > 0 && !config.off(Mechanism::kSave)) save_soon();
  counts_.started += count.started;
  counts_.started_unmanaged += count.started_unmanaged;
  counts_.elsewhere += count.elsewhere;
  counts_.refused += count.refused;
  // The texts in jobs are for people and can wait; the reservations are for the gate.
  if (!full) {
    if (plan.memory.reservations == before.reservations) return;
    const HeldLocks locks(LockKind::kNodes, LockUse::kWrite, times_,
                          !config.off(Mechanism::kServerCount));
    if (locks.held()) WriteBack::reserve(snapshot, plan, pair_);
    return;
  }
  wait_for_quiet(config);
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_,
                          !config.off(Mechanism::kServerCount));
    if (locks.held()) write_back_.write(snapshot, plan, pair_);
  }
  comments_.write(snapshot, plan, config, times_);
}

void PlanCommitter::withdraw(const Config& config) {
  {
    const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times_);
    if (locks.held()) write_back_.clear(pair_);
  }
  comments_.clear(config, times_);
}

}  // namespace rubato

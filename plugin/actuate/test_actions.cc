// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/test_actions.h"

#include <vector>

#include "lib/base/log.h"
#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/read/node_slots.h"
#include "plugin/slurm/write/live_shrink.h"

namespace rubato {

namespace {

void take_second_nodes(const Snapshot& snapshot, const Config& config, double most) {
  const NodeSlots slots(snapshot);
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning || static_cast<double>(job.allocation.size()) <= most)
      continue;
    auto keep = slots.of(job.allocation);
    if (!keep || keep->size() < 2) continue;
    keep->erase(keep->begin() + 1);
    const auto done = shrink_job(job.key, *keep, !config.off(Mechanism::kShrinkRepair));
    if (!done) log().info("JobId={} keeps its nodes: {}", job.key.id, done.error().text);
  }
}

void check_gres() {
  const auto contradictions = gres_contradictions();
  for (const std::string& line : contradictions) log().error("contradiction: {}", line);
  log().info("GRES records checked: {} contradictions", contradictions.size());
}

}  // namespace

void act_for_tests(const Snapshot& snapshot, const Config& config, LockTimes& times) {
  const auto most = config.injected(Fault::kShrinkTo);
  const bool checks = config.injected(Fault::kCheckGres).has_value();
  if (!most && !checks) return;
  const HeldLocks locks(LockKind::kAct, LockUse::kWrite, times);
  if (!locks.held()) return;
  if (most) take_second_nodes(snapshot, config, *most);
  if (checks) check_gres();
}

}  // namespace rubato

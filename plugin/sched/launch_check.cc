// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/launch_check.h"

#include <set>

#include "lib/base/log.h"
#include "plugin/slurm/write/ask_nodes.h"

namespace rubato {

namespace {

// Seconds before the first look of a process. A message to a node that does not answer is sent
// again after a minute (agent.c, RPC_RETRY_INTERVAL).
constexpr Seconds kStartedBefore = 120;
// Seconds beyond max_launch_time(): slurmctld read its jobs a moment before the first look.
constexpr Seconds kMargin = 2;

}  // namespace

void LaunchCheck::look(const Snapshot& snapshot) {
  if (std::exchange(looked_, true)) return;
  std::set<std::string> nodes;
  for (const Job& job : snapshot.jobs) {
    const bool running = job.state == JobState::kRunning && job.batch && !job.allocation.empty();
    if (!running || job.start < snapshot.taken - kStartedBefore) continue;
    const NodeIndex node = job.batch_node.valid() ? job.batch_node : job.allocation.front().node;
    nodes.insert(snapshot.nodes[node].name);
  }
  nodes_.assign(nodes.begin(), nodes.end());
  due_ = snapshot.taken + max_launch_time() + kMargin;
}

void LaunchCheck::act(const Config& config, LockTimes& times, Seconds now) {
  if (nodes_.empty() || now < due_) return;
  const bool off = config.mode == Mode::kObserve || config.off(Mechanism::kLaunch);
  if (!off && !ask_nodes_for_their_jobs(nodes_, times)) return;
  if (!off)
    log().info("nodes asked which jobs they have: {}; jobs started there just before slurmctld did",
               nodes_.size());
  nodes_.clear();
}

}  // namespace rubato

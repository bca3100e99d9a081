// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/launch_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/log.h"
#include "plugin/slurm/write/ask_nodes.h"

namespace rubato {

namespace {

// Seconds beyond max_launch_time(): slurmctld compares whole seconds, and with `<`.
constexpr Seconds kMargin = 2;
// Slurm asks at most 50 nodes per ping to register (ping_nodes.c, max_reg_threads).
constexpr std::ptrdiff_t kNodesAtATime = 50;
constexpr Seconds kPause = 5;  // seconds between two messages
constexpr Seconds kPatience = 600;

}  // namespace

void LaunchCheck::look(const Snapshot& snapshot) {
  if (looked_) return;
  const Seconds since = snapshot.taken - registration_period();
  std::set<std::string> nodes;
  for (const Job& job : snapshot.jobs) {
    const bool running = job.state == JobState::kRunning && job.batch && !job.allocation.empty();
    if (!running || job.start < since) continue;
    const NodeIndex node = job.batch_node.valid() ? job.batch_node : job.allocation.front().node;
    nodes.insert(snapshot.nodes[node].name);
  }
  nodes_.assign(nodes.begin(), nodes.end());
  due_ = snapshot.taken + max_launch_time() + kMargin;
  until_ = due_ + kPatience + std::ssize(nodes_) / kNodesAtATime * kPause;
  looked_ = true;
}

void LaunchCheck::act(const Config& config, LockTimes& times, Seconds now) {
  if (nodes_.empty() || now < due_) return;
  if (config.mode == Mode::kObserve || config.off(Mechanism::kLaunch) || now > until_) {
    nodes_.clear();
    return;
  }
  const auto count = std::min<std::ptrdiff_t>(std::ssize(nodes_), kNodesAtATime);
  const std::vector<std::string> some(nodes_.begin(), nodes_.begin() + count);
  std::optional<std::vector<std::string>> silent = ask_nodes_for_their_jobs(some, times);
  if (!silent) return;
  const std::size_t asked = some.size() - silent->size();
  if (asked > 0)
    log().info("asked {} node{} for their jobs: jobs started there shortly before slurmctld did",
               asked, asked == 1 ? "" : "s");
  nodes_.erase(nodes_.begin(), nodes_.begin() + count);
  nodes_.insert(nodes_.end(), silent->begin(), silent->end());
  due_ = now + kPause;
}

}  // namespace rubato

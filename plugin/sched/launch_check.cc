// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/launch_check.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "lib/base/log.h"

namespace rubato {

namespace {

// Seconds beyond LaunchTimes::start: slurmctld compares whole seconds, and with `<`.
constexpr Seconds kMargin = 2;
// Seconds after a start or reconfigure in which the nodes still read their configuration.
constexpr Seconds kSettle = 5;
// Slurm asks at most 50 nodes per ping to register (ping_nodes.c, max_reg_threads).
constexpr std::size_t kNodesAtATime = 50;
constexpr Seconds kPause = 5;  // seconds between two messages
constexpr Seconds kPatience = 600;

}  // namespace

void LaunchCheck::look(const Snapshot& snapshot, LockTimes& times) {
  if (opens_) {
    const std::optional<LaunchTimes> launch = launch_times(times);
    if (!launch) return;  // slurmctld ends
    launch_ = *launch;
    since_ = snapshot.taken - (new_process_ ? launch_.registration : launch_.start);
    looks_until_ = snapshot.taken + kSettle;
    opens_ = false;
    new_process_ = false;
  }
  if (snapshot.taken <= looks_until_) collect(snapshot);
}

void LaunchCheck::collect(const Snapshot& snapshot) {
  const Seconds when = snapshot.taken + launch_.start + kMargin;
  for (const Job& job : snapshot.jobs) {
    const bool running = job.state == JobState::kRunning && job.batch && !job.allocation.empty();
    if (!running || job.start < since_) continue;
    const NodeIndex node = job.batch_node.valid() ? job.batch_node : job.allocation.front().node;
    due_.emplace(when, snapshot.nodes[node].name);
  }
  since_ = snapshot.taken;
}

void LaunchCheck::act(const Config& config, LockTimes& times, Seconds now) {
  if (due_.empty() || now < std::max(due_.begin()->first, pause_until_)) return;
  if (config.mode == Mode::kObserve || config.off(Mechanism::kLaunch)) {
    due_.clear();
    return;
  }
  const auto rounds = static_cast<Seconds>(due_.size() / kNodesAtATime);
  const Seconds oldest = now - kPatience - rounds * kPause;
  std::erase_if(due_, [oldest](const auto& entry) { return entry.first < oldest; });
  std::set<std::string> some;
  for (const auto& [when, node] : due_) {
    if (when > now || some.size() == kNodesAtATime) break;
    some.insert(node);
  }
  if (some.empty()) return;
  const std::vector<std::string> asked(some.begin(), some.end());
  const std::optional<std::vector<std::string>> silent = ask_nodes_for_their_jobs(asked, times);
  if (!silent) return;
  for (const std::string& node : *silent) some.erase(node);
  if (!some.empty())
    log().info(
        "asked {} node{} for their jobs: jobs started there about when slurmctld started or "
        "was reconfigured",
        some.size(), some.size() == 1 ? "" : "s");
  std::erase_if(
      due_, [&](const auto& entry) { return entry.first <= now && some.contains(entry.second); });
  pause_until_ = now + kPause;
}

}  // namespace rubato

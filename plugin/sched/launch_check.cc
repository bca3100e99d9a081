// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/launch_check.h"

#include <algorithm>
#include <optional>
#include <set>
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
  follow_clock(snapshot.taken);
  if (looks_) collect(snapshot);
  if (!new_process_ && !opened_) return;
  const std::optional<LaunchTimes> launch = launch_times(times);
  if (!launch) return;  // slurmctld ends
  launch_ = *launch;
  const Seconds at = std::min(opened_.value_or(snapshot.taken), snapshot.taken);
  const Seconds since = at - (new_process_ ? launch_.registration : launch_.start);
  since_ = looks_ ? std::max(since_, since) : since;
  until_ = at + kSettle;
  new_process_ = false;
  opened_.reset();
  collect(snapshot);
}

void LaunchCheck::collect(const Snapshot& snapshot) {
  std::set<std::string> nodes;
  for (const Job& job : snapshot.jobs) {
    const bool running = job.state == JobState::kRunning && job.batch && !job.allocation.empty();
    if (!running || job.start < since_ || job.start > until_) continue;
    const NodeIndex node = job.batch_node.valid() ? job.batch_node : job.allocation.front().node;
    nodes.insert(snapshot.nodes[node].name);
  }
  const Seconds when = snapshot.taken + launch_.start + kMargin;
  const auto messages = static_cast<Seconds>(nodes.size() / kNodesAtATime);
  for (const std::string& node : nodes) due_[{when, node}] = when + kPatience + messages * kPause;
  since_ = snapshot.taken;
  looks_ = snapshot.taken <= until_;  // the next one may show starts of the last of these seconds
}

// The clock may be set back: then nothing is to wait for a time that comes again. A snapshot may be
// a little older than the last call.
void LaunchCheck::follow_clock(Seconds now) {
  const Seconds back = last_ - now;
  last_ = now;
  if (back <= kMargin) return;
  since_ -= back;
  until_ -= back;
  pause_until_ -= back;
  std::map<Entry, Seconds> due;
  for (const auto& [entry, expires] : due_)
    due[{entry.first - back, entry.second}] = expires - back;
  due_ = std::move(due);
}

void LaunchCheck::act(const Config& config, LockTimes& times, Seconds now) {
  follow_clock(now);
  if (due_.empty() || now < std::max(due_.begin()->first.first, pause_until_)) return;
  if (config.mode == Mode::kObserve || config.off(Mechanism::kLaunch)) {
    due_.clear();
    return;
  }
  std::erase_if(due_, [now](const auto& one) { return one.second < now; });
  std::map<std::string, Seconds> some;  // node, when it is given up
  for (const auto& [entry, expires] : due_) {
    if (entry.first > now || some.size() == kNodesAtATime) break;
    some[entry.second] = std::max(some[entry.second], expires);
  }
  if (some.empty()) return;
  std::vector<std::string> nodes;
  for (const auto& [node, expires] : some) nodes.push_back(node);
  const std::optional<std::vector<std::string>> silent = ask_nodes_for_their_jobs(nodes, times);
  if (!silent) return;
  std::erase_if(due_, [&](const auto& one) {
    return one.first.first <= now && some.contains(one.first.second);
  });
  // Those that do not respond wait behind the others.
  for (const std::string& node : *silent) due_[{now + kPause, node}] = some[node];
  const std::size_t asked = some.size() - silent->size();
  if (asked > 0)
    log().info(
        "asked {} node{} for their jobs: jobs started there about when slurmctld started or "
        "was reconfigured",
        asked, asked == 1 ? "" : "s");
  pause_until_ = now + kPause;
}

}  // namespace rubato

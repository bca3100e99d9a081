// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/run_log.h"

#include <algorithm>

#include "lib/store/run_text.h"

namespace rubato {

namespace {

/// By node index: whether a managed partition has it.
std::vector<bool> managed_nodes(const Snapshot& snapshot) {
  std::vector<bool> nodes(snapshot.nodes.size());
  for (const Partition& partition : snapshot.partitions) {
    if (!partition.managed || !partition.node_set.valid()) continue;
    for (const NodeIndex node : snapshot.node_sets[partition.node_set]) nodes[node] = true;
  }
  return nodes;
}

}  // namespace

void RunLog::follow_blocks(const Snapshot& snapshot) {
  std::map<JobKey, Seconds> blocked;  // jobs that are gone are forgotten
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending) continue;
    if (job.block != Block::kNone) {
      blocked[job.key] = snapshot.taken;
    } else if (const auto at = blocked_.find(job.key); at != blocked_.end()) {
      blocked.insert(*at);
    }
  }
  blocked_.swap(blocked);
}

std::vector<store::RunRecord> RunLog::update(const Snapshot& snapshot,
                                             const RunningJobs::RunChanges& change,
                                             RunningJobs& running_jobs, Mode mode) {
  std::vector<store::RunRecord> records;
  for (const JobKey& key : change.left) {
    const RunFacts* facts = running_jobs.find(key);
    if (facts == nullptr || on_.erase({key, facts->start}) == 0) continue;
    records.push_back({.job = key, .start = facts->start, .end = snapshot.taken, .text = {}});
  }
  if (!change.fresh.empty()) {
    const std::vector<bool> managed = managed_nodes(snapshot);
    const auto here = [&](const NodeShare& share) { return managed[share.node]; };
    for (const Job& job : snapshot.jobs) {
      if (job.state != JobState::kRunning ||
          !std::binary_search(change.fresh.begin(), change.fresh.end(), job.key) ||
          std::none_of(job.allocation.begin(), job.allocation.end(), here))
        continue;
      const auto held = blocked_.find(job.key);
      Seconds enters = std::max(job.eligible, job.key.submit);
      if (held != blocked_.end()) enters = std::max(enters, held->second);
      std::string text = sim::run_text(job, snapshot, mode);
      if (text.empty()) continue;
      on_.emplace(job.key, job.start);
      records.push_back({.job = job.key,
                         .start = job.start,
                         .enters = std::min(enters, job.start),
                         .text = std::move(text)});
    }
  }
  follow_blocks(snapshot);
  return records;
}

}  // namespace rubato

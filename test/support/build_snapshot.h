// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers that build snapshots in tests.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"

namespace rubato::test {

inline constexpr Seconds kNow = 1'800'000'000;

/// A usable, empty node with 32 cores and 256 GiB.
inline Node make_node(const std::string& name, const std::vector<std::pair<std::string, int>>& gpus,
                      int cores = 32, MiB memory = 262144) {
  Node node;
  node.name = name;
  node.cores = node.cores_free = cores;
  node.memory = node.memory_free = memory;
  for (const auto& [type, count] : gpus) node.gpus.push_back({type, count, count});
  node.usable = true;
  return node;
}

/// Empty cluster of nodes n1, n2, ... with one partition "gpu" of all nodes (node set 0).
inline Snapshot make_cluster(const std::vector<std::pair<std::string, int>>& nodes) {
  Snapshot snapshot;
  snapshot.cluster = "test";
  snapshot.slurm_version = "22.05.8";
  snapshot.taken = kNow;
  for (const auto& [type, count] : nodes) {
    snapshot.nodes.push_back(
        make_node("n" + std::to_string(snapshot.nodes.size() + 1), {{type, count}}));
  }
  NodeSet all(snapshot.nodes.size());
  std::iota(all.begin(), all.end(), NodeIndex{0});
  snapshot.node_sets.push_back(all);
  snapshot.partitions.push_back({"gpu", 1, true, 0});
  return snapshot;
}

/// A configuration in which Rubato manages all partitions.
inline Config managing_all(Mode mode) {
  Config config;
  config.mode = mode;
  config.manage_all = true;
  return config;
}

/// Adds a managed pending job that requests `gpus` GPUs in total, with a limit of one hour, after
/// all pending jobs.
inline Job& add_pending(Snapshot& snapshot, int gpus, const std::string& type = "") {
  Job job;
  int rank = 0;
  JobId id = 1;
  for (const Job& other : snapshot.jobs) {
    id = std::max(id, other.key.id + 1);
    if (other.state == JobState::kPending) rank = std::max(rank, other.rank + 1);
  }
  job.key = {id, kNow - 60};
  job.label = std::to_string(id);
  job.user = "ada";
  job.partition = "gpu";
  job.managed = true;
  job.rank = rank;
  job.eligible = kNow - 60;
  job.time_limit = 3600;
  job.request.gpus = gpus;
  job.request.gpu_type = type;
  job.node_set = 0;
  const auto end = std::find_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                [](const Job& other) { return other.state == JobState::kRunning; });
  return *snapshot.jobs.insert(end, job);
}

/// Subtracts `share` from its node.
inline void occupy(Snapshot& snapshot, const NodeShare& share) {
  Node& node = snapshot.nodes[share.node];
  node.cores_free -= share.cores;
  node.memory_free -= share.memory;
  for (const GpuCount& group : share.gpus) {
    for (GpuGroup& on_node : node.gpus) {
      if (on_node.type == group.type) on_node.free -= group.count;
    }
  }
}

/// A job that runs on `shares` and reaches its limit at `end`.
inline Job& add_running(Snapshot& snapshot, std::vector<NodeShare> shares, Seconds end) {
  Job job;
  JobId id = 1000;
  for (const Job& other : snapshot.jobs) id = std::max(id, other.key.id + 1);
  job.key = {id, kNow - 7200};
  job.label = std::to_string(id);
  job.partition = "gpu";
  job.state = JobState::kRunning;
  job.managed = true;
  job.start = kNow - 3600;
  job.end_limit = end;
  job.time_limit = end >= kForever ? kForever : end - job.start;
  for (const NodeShare& share : shares) occupy(snapshot, share);
  job.allocation = std::move(shares);
  snapshot.jobs.push_back(std::move(job));
  return snapshot.jobs.back();
}

/// `gpus` GPUs of the first type of node `node` (from 0), with one core each.
inline NodeShare share_of(const Snapshot& snapshot, NodeIndex node, int gpus) {
  const Node& on = snapshot.nodes[node];
  return {node, gpus, 0, {{on.gpus.front().type, gpus}}};
}

/// A job on the first 8 GPUs of node 0 that can run on 4 too, and consented to restarts (USR1, 60
/// s).
inline Job& add_consenting(Snapshot& snapshot) {
  Job& job = add_running(snapshot, {share_of(snapshot, 0, 8)}, kNow + 3600);
  job.request.gpus = 8;
  job.request.cores = 8;
  job.later_set = 0;
  job.hints.emplace();
  job.hints->sizes = GpuSizes({{4, 4}, {8, 8}});
  job.hints->request_gpus = 8;
  job.hints->checkpoint.signal = 10;
  job.hints->resize = Resize::kRestart;
  return job;
}

}  // namespace rubato::test

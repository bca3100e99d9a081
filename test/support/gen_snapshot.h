// SPDX-License-Identifier: GPL-2.0-or-later
// rapidcheck generators of small snapshots: few nodes and unusual requests, so that edge cases of
// placement are frequent.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/support/build_snapshot.h"

namespace rubato::test {

struct GenOptions {
  bool unmanaged = true;  ///< also unmanaged, het and blocked jobs
  bool odd_nodes = true;  ///< also nodes that are down, coming or powered down
  bool unlimited = true;  ///< also jobs without a time limit
  bool twins = true;      ///< also jobs with entries in two partitions
  int nodes = 5;          ///< maximum
  int pending = 10;       ///< maximum
};

inline int gen_int(int from, int to) { return *rc::gen::inRange(from, to + 1); }
inline bool gen_chance(int percent) { return gen_int(1, 100) <= percent; }

inline Node gen_node(int index, const GenOptions& options) {
  static const std::vector<std::string> kTypes{"", "a100", "h100"};
  Node node = make_node("n" + std::to_string(index + 1), {}, gen_int(2, 16), 1024 * gen_int(2, 16));
  const int kind = gen_int(0, 9);
  if (kind == 0) {
    node.gpus = {{"a100", 2, 2}, {"h100", 2, 2}};
  } else if (kind > 1) {
    const int count = gen_int(1, 8);
    node.gpus = {
        {kTypes[static_cast<std::size_t>(gen_int(0, 9) == 0 ? 0 : gen_int(1, 2))], count, count}};
  }
  node.weight = static_cast<std::uint32_t>(gen_chance(80) ? 1 : gen_int(1, 3));
  if (options.odd_nodes) {
    node.powered_down = gen_chance(10);
    node.usable = !gen_chance(10);
    node.coming = !node.usable && gen_chance(50);
  }
  return node;
}

inline NodeSet gen_node_set(int nodes) {
  NodeSet set;
  for (int i = 0; i < nodes; ++i) {
    if (gen_chance(75)) set.push_back(NodeIndex{i});
  }
  return set;
}

inline Request gen_request() {
  Request request;
  const int shape = gen_int(0, 9);
  if (shape < 5) {
    request.gpu_quantum = gen_chance(70) ? 1 : gen_int(1, 3);
    request.gpus = request.gpu_quantum * gen_int(1, 8);
  } else if (shape < 9) {
    request.gpus_per_node = gen_int(1, 4);
  }
  request.min_nodes = gen_chance(70) ? 1 : gen_int(1, 3);
  if (gen_chance(30)) request.max_nodes = request.min_nodes + gen_int(0, 2);
  if (request.wants_gpus() && gen_chance(40)) request.gpu_type = gen_chance(50) ? "a100" : "h100";
  request.threads = gen_chance(75) ? 1 : 2;
  request.cores = gen_int(1, 12);
  if (gen_chance(20)) request.cores_per_node = gen_int(1, 6);
  if (gen_chance(20)) request.cores_per_gpu = gen_int(1, 4);
  if (gen_chance(40)) {
    request.tasks = gen_int(1, 8);
    request.cores_per_task = gen_int(1, 4);
    request.tasks_per_node = gen_chance(30) ? gen_int(1, 4) : 0;
    request.gpus_per_task = request.gpu_quantum > 1 ? request.gpu_quantum : 0;
    request.fixed_nodes = request.max_nodes == request.min_nodes;
    request.whole_memory = gen_chance(10);
  }
  switch (gen_int(0, 5)) {
    case 0:
      request.memory_per_node = 512 * gen_int(1, 16);
      break;
    case 1:
      request.memory_per_core = 512 * gen_int(1, 4);
      break;
    case 2:
      request.memory_per_gpu = 512 * gen_int(1, 8);
      break;
    default:
      break;
  }
  request.whole_nodes = gen_chance(10);
  return request;
}

inline Seconds gen_limit(const GenOptions& options) {
  if (options.unlimited && gen_chance(10)) return kForever;
  return 60 * gen_int(1, 60);
}

inline void gen_running(Snapshot& snapshot, JobId id, const GenOptions& options) {
  std::vector<NodeShare> shares;
  const int nodes = static_cast<int>(snapshot.nodes.size());
  const int first = gen_int(0, nodes - 1);
  const int last = gen_chance(75) ? first : gen_int(first, nodes - 1);
  for (int i = first; i <= last; ++i) {
    const Node& node = snapshot.nodes[static_cast<std::size_t>(i)];
    if (node.cores_free == 0) continue;
    NodeShare share;
    share.node = NodeIndex{i};
    share.cores = gen_int(1, node.cores_free);
    share.memory = 256 * gen_int(0, static_cast<int>(node.memory_free / 256));
    for (const GpuGroup& group : node.gpus) {
      const int count = gen_int(0, group.free);
      if (count > 0) share.gpus.push_back({group.type, count});
    }
    shares.push_back(share);
  }
  if (shares.empty()) return;
  const Seconds end = options.unlimited && gen_chance(10) ? kForever : kNow + 30 * gen_int(1, 120);
  Job& job = add_running(snapshot, shares, end);
  job.key = {id, kNow - 7200};
  job.label = std::to_string(id);
}

inline void gen_pending(Snapshot& snapshot, JobId id, const GenOptions& options) {
  Job job;
  job.key = {id, kNow - gen_int(0, 5000)};
  job.label = std::to_string(id);
  job.rank = 0;
  for (const Job& other : snapshot.jobs) job.rank = std::max(job.rank, other.rank + 1);
  job.managed = !options.unmanaged || gen_chance(75);
  job.eligible = job.key.submit;
  job.time_limit = gen_limit(options);
  job.request = gen_request();
  job.tasks = gen_chance(90) ? 1 : gen_int(2, 4);
  const auto set = [&] {
    return NodeSetIndex{gen_int(0, static_cast<int>(snapshot.node_sets.size()) - 1)};
  };
  job.node_set = set();
  job.partition = "p" + std::to_string(job.node_set.value());
  if (options.unmanaged) {
    job.het = gen_chance(5);
    if (gen_chance(10)) job.block = Block::kLimit;
    job.may_preempt = gen_chance(10);
    job.preempting = job.may_preempt && gen_chance(30);
    const NodeSet& nodes = snapshot.node_sets[job.node_set];
    if (!job.managed && gen_chance(40) && !nodes.empty()) {
      job.stock_start = kNow + 30 * gen_int(0, 60);
      job.stock_nodes = {
          nodes[static_cast<std::size_t>(gen_int(0, static_cast<int>(nodes.size()) - 1))]};
    }
  }
  snapshot.jobs.push_back(job);
  if (options.twins && gen_chance(15)) {
    // The same job in another partition.
    job.node_set = set();
    job.partition = "p" + std::to_string(job.node_set.value());
    ++job.rank;
    if (job.partition != snapshot.jobs.back().partition) snapshot.jobs.push_back(job);
  }
}

/// Pending jobs by rank, running by key.
inline void sort_jobs(Snapshot& snapshot) {
  std::sort(snapshot.jobs.begin(), snapshot.jobs.end(), [](const Job& a, const Job& b) {
    const auto key = [](const Job& j) {
      return std::tuple(j.state, j.state == JobState::kPending ? j.rank : 0, j.key, j.partition);
    };
    return key(a) < key(b);
  });
}

inline rc::Gen<Snapshot> gen_snapshot(GenOptions options = {}) {
  return rc::gen::exec([options] {
    Snapshot snapshot;
    snapshot.cluster = "test";
    snapshot.slurm_version = "22.05.8";
    snapshot.taken = kNow;
    const int nodes = gen_int(1, options.nodes);
    for (int i = 0; i < nodes; ++i) snapshot.nodes.push_back(gen_node(i, options));
    const int sets = gen_int(1, 3);
    for (int i = 0; i < sets; ++i) {
      snapshot.node_sets.push_back(gen_node_set(nodes));
      snapshot.partitions.push_back({"p" + std::to_string(i), 1, true, NodeSetIndex{i}});
    }
    const int running = gen_int(0, 6);
    for (int i = 0; i < running; ++i) gen_running(snapshot, static_cast<JobId>(1000 + i), options);
    const int pending = gen_int(1, options.pending);
    for (int i = 0; i < pending; ++i) gen_pending(snapshot, static_cast<JobId>(i + 1), options);
    sort_jobs(snapshot);
    return snapshot;
  });
}

}  // namespace rubato::test

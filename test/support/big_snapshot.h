// SPDX-License-Identifier: GPL-2.0-or-later
// Loaded clusters of any size for benchmarks and tests: equal sizes and seed give equal snapshots.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "test/support/build_snapshot.h"

namespace rubato::test {

struct BigCluster {
  int nodes = 256;
  int pending = 2000;
  int running = 300;
  /// Every pending job has a different request, so that no cached answer serves two of them.
  bool all_different = false;
  unsigned seed = 1;
};

/// Three GPU types; running jobs hold most GPUs; one pending job in ten is unmanaged.
inline Snapshot big_snapshot(const BigCluster& size) {
  std::mt19937 random(size.seed);
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  constexpr std::array kTypes{"a100", "h100", "v100"};
  constexpr std::array kSizes{1, 1, 1, 1, 2, 2, 4, 4, 8, 16};
  Snapshot snapshot;
  snapshot.cluster = "big";
  snapshot.slurm_version = "22.05.8";
  snapshot.taken = kNow;
  for (int i = 0; i < size.nodes; ++i) {
    snapshot.nodes.push_back(
        make_node("node" + std::to_string(i), {{kTypes[static_cast<std::size_t>(i % 3)], 8}}, 64));
  }
  NodeSet all(snapshot.nodes.size());
  std::iota(all.begin(), all.end(), NodeIndex{0});
  NodeSet half(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  snapshot.node_sets = {all, half};
  snapshot.partitions = {{"gpu", 1, true, 0}, {"half", 1, true, 1}};
  for (int i = 0; i < size.pending; ++i) {
    Job job;
    job.key = {static_cast<JobId>(i + 1), kNow - 60 - pick(900)};
    job.label = std::to_string(i + 1);
    job.name = "train-" + std::to_string(i);
    job.user = "user" + std::to_string(pick(40));
    job.account = "lab";
    job.qos = "normal";
    job.managed = pick(10) != 0;
    job.rank = i;
    job.priority = static_cast<std::uint32_t>(size.pending - i);
    job.eligible = job.key.submit;
    job.time_limit = 600 * (1 + pick(100));
    job.node_set = NodeSetIndex{pick(2)};
    job.partition = job.node_set == 0 ? "gpu" : "half";
    const int gpus = kSizes[static_cast<std::size_t>(pick(10))];
    if (gpus > 8) {
      job.request.gpus_per_node = 8;
      job.request.min_nodes = job.request.max_nodes = gpus / 8;
    } else {
      job.request.gpus = gpus;
    }
    if (pick(3) == 0) job.request.gpu_type = kTypes[static_cast<std::size_t>(pick(3))];
    job.request.cores = gpus * (1 + pick(4));
    job.request.memory_per_gpu = 8192;
    if (size.all_different) job.request.memory_per_node = 1024 + i;
    snapshot.jobs.push_back(std::move(job));
  }
  for (int i = 0; i < size.running; ++i) {
    const NodeIndex node{pick(size.nodes)};
    const int free = snapshot.nodes[node].gpus_free();
    if (free == 0) continue;
    NodeShare share = share_of(snapshot, node, pick(2) == 0 ? free : 1 + pick(free));
    share.memory = 8192 * share.cores;
    Job& job = add_running(snapshot, {share}, kNow + 60 * (1 + pick(1000)));
    job.key.id = static_cast<JobId>(size.pending + 1 + i);
    job.label = std::to_string(job.key.id);
  }
  return snapshot;
}

}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "lib/core/snapshot.h"

namespace rubato::test {

/// A cluster of one node with two A100, and waiting jobs 1 to `jobs` of one GPU each, submitted at
/// 100 s; taken at 200 s.
inline Snapshot small_snapshot(int jobs) {
  Snapshot snapshot;
  snapshot.cluster = "test";
  Node node;
  node.name = "n1";
  node.cores = node.cores_free = 8;
  node.memory = node.memory_free = 1000;
  node.gpus = {{"a100", 2, 2}};
  node.usable = true;
  snapshot.nodes = {node};
  snapshot.node_sets = {{0}};
  snapshot.partitions = {{.name = "main", .tier = 1, .managed = true, .node_set = 0}};
  for (int number = 0; number < jobs; ++number) {
    Job job;
    job.key = {static_cast<JobId>(number + 1), 100};
    job.label = std::to_string(number + 1);
    job.partition = "main";
    job.managed = true;
    job.node_set = job.later_set = 0;
    job.eligible = 100;
    job.time_limit = 60;
    job.rank = number;
    job.request.gpus = 1;
    snapshot.jobs.push_back(job);
  }
  snapshot.taken = 200;
  return snapshot;
}

}  // namespace rubato::test

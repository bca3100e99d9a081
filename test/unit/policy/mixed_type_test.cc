// SPDX-License-Identifier: GPL-2.0-or-later
// Untyped requests that no single GPU type can satisfy use several types, as in stock Slurm.
#include <gtest/gtest.h>

#include "lib/policy/round.h"

namespace rubato {
namespace {

Node node_with(const std::string& name, std::vector<GpuGroup> gpus) {
  Node node;
  node.name = name;
  node.cores = node.cores_free = 32;
  node.memory = node.memory_free = 64000;
  node.gpus = std::move(gpus);
  node.usable = true;
  return node;
}

// n0, n1: a100:4; n2: v100:2; n3: h100:1 and v100:1.
Snapshot three_types() {
  Snapshot snapshot;
  snapshot.taken = 1000;
  snapshot.nodes = {node_with("n0", {{"a100", 4, 4}}), node_with("n1", {{"a100", 4, 4}}),
                    node_with("n2", {{"v100", 2, 2}}),
                    node_with("n3", {{"h100", 1, 1}, {"v100", 1, 1}})};
  snapshot.node_sets = {{0, 1, 2, 3}};
  snapshot.partitions = {{.name = "main", .tier = 1, .managed = true, .node_set = 0}};
  return snapshot;
}

Job gang(JobId id, int nodes, int per_node) {
  Job job;
  job.key = {id, 900};
  job.label = std::to_string(id);
  job.partition = "main";
  job.managed = true;
  job.node_set = job.later_set = 0;
  job.eligible = 900;
  job.time_limit = 600;
  job.request.min_nodes = job.request.max_nodes = nodes;
  job.request.gpus_per_node = per_node;
  job.request.cores = nodes;
  return job;
}

Config placing() {
  Config config;
  config.mode = Mode::kPlace;
  config.manage_all = true;
  return config;
}

TEST(MixedTypes, AGangThatNoOneTypeCarriesStartsOnSeveral) {
  Snapshot snapshot = three_types();
  snapshot.jobs = {gang(1, 4, 1)};
  const Plan plan = round(snapshot, Models(), placing(), 1000);
  ASSERT_EQ(plan.starts.size(), 1U);
  const Start& start = plan.starts[0];
  ASSERT_EQ(start.shares.size(), 4U);
  EXPECT_EQ(start.gpu_type, "");
  EXPECT_EQ(start.shares[0].gpus, (std::vector<GpuCount>{{"a100", 1}}));
  EXPECT_EQ(start.shares[2].gpus, (std::vector<GpuCount>{{"v100", 1}}));
  EXPECT_EQ(start.shares[3].gpu_count(), 1);
}

TEST(MixedTypes, AGangThatOneTypeCarriesWaitsForThatType) {
  Snapshot snapshot = three_types();
  snapshot.nodes[1].usable = false;
  snapshot.jobs = {gang(1, 2, 1)};
  Plan plan = round(snapshot, Models(), placing(), 1000);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpu_type, "v100");

  snapshot.nodes[3].gpus[1].free = 0;
  plan = round(snapshot, Models(), placing(), 1000);
  EXPECT_TRUE(plan.starts.empty());
}

TEST(MixedTypes, ItIsReservedWhenItCannotStart) {
  Snapshot snapshot = three_types();
  Job running = gang(2, 1, 2);
  running.state = JobState::kRunning;
  running.start = 800;
  running.end_limit = 1200;
  running.allocation = {{.node = 2, .cores = 1, .memory = 0, .gpus = {{"v100", 2}}}};
  snapshot.nodes[2].gpus[0].free = 0;
  snapshot.nodes[2].cores_free = 31;
  snapshot.jobs = {gang(1, 4, 1), running};
  const Plan plan = round(snapshot, Models(), placing(), 1000);
  EXPECT_TRUE(plan.starts.empty());
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, 1200);
  EXPECT_EQ(plan.reservations[0].shares.size(), 4U);

  // The next round keeps the placement.
  snapshot.memory = plan.memory;
  const Plan next = round(snapshot, Models(), placing(), 1001);
  EXPECT_EQ(next.reservations, plan.reservations);
}

TEST(MixedTypes, ANodeOfSeveralTypesGivesAllOfThem) {
  Snapshot snapshot = three_types();
  snapshot.jobs = {gang(1, 4, 2)};
  const Plan plan = round(snapshot, Models(), placing(), 1000);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].shares[3].gpus, (std::vector<GpuCount>{{"h100", 1}, {"v100", 1}}));
}

TEST(RoundOrder, ANodeThatIsUpGoesBeforeAFasterOneThatMustBoot) {
  Snapshot snapshot = three_types();
  snapshot.jobs = {gang(1, 1, 1)};
  const Models models({{"a100", 3.0}, {"h100", 2.0}, {"v100", 1.0}});
  EXPECT_EQ(round(snapshot, models, placing(), 1000).starts.at(0).gpu_type, "a100");
  snapshot.nodes[0].powered_down = snapshot.nodes[1].powered_down = true;
  EXPECT_EQ(round(snapshot, models, placing(), 1000).starts.at(0).gpu_type, "h100");
  snapshot.nodes[2].powered_down = snapshot.nodes[3].powered_down = true;
  EXPECT_EQ(round(snapshot, models, placing(), 1000).starts.at(0).gpu_type, "a100");
}

TEST(RoundOrder, AJobInTwoPartitionsMayStartInTheSecond) {
  Snapshot snapshot = three_types();
  snapshot.node_sets.push_back({2});
  snapshot.nodes[2].usable = false;
  snapshot.nodes[2].coming = true;
  snapshot.partitions.push_back({.name = "right", .tier = 1, .managed = true, .node_set = 0});
  Job left = gang(1, 1, 1);
  left.node_set = left.later_set = 1;
  Job right = gang(1, 1, 1);
  right.partition = "right";
  right.rank = 1;
  snapshot.jobs = {left, right};
  const Plan plan = round(snapshot, Models(), placing(), 1000);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].partition, "right");
  EXPECT_TRUE(plan.reservations.empty());
  ASSERT_EQ(plan.explanations.size(), 2U);
  EXPECT_EQ(plan.explanations[0].verdict, Verdict::kWait);
  EXPECT_EQ(plan.explanations[1].verdict, Verdict::kStart);
}

TEST(RoundOrder, AJobPutAboveTheOneThatWasFirstStartsBeforeIt) {
  Snapshot snapshot = three_types();
  Job running = gang(9, 1, 4);
  running.state = JobState::kRunning;
  running.start = 800;
  running.end_limit = 1300;
  running.allocation = {{.node = 0, .cores = 1, .memory = 0, .gpus = {{"a100", 4}}}};
  snapshot.node_sets.push_back({0});
  snapshot.nodes[0].gpus[0].free = 0;
  Job first = gang(1, 1, 4);
  first.node_set = first.later_set = 1;
  snapshot.jobs = {first, running};
  const Plan before = round(snapshot, Models(), placing(), 1000);
  ASSERT_EQ(before.reservations.size(), 1U);
  EXPECT_EQ(before.reservations[0].reason, ReserveReason::kFirst);

  // An admin gives another job a higher priority, and the node becomes free.
  Job raised = gang(2, 1, 4);
  raised.node_set = raised.later_set = 1;
  first.rank = 1;
  snapshot.jobs = {raised, first};
  snapshot.nodes[0].gpus[0].free = 4;
  snapshot.memory = before.memory;
  const Plan after = round(snapshot, Models(), placing(), 1001);
  ASSERT_EQ(after.starts.size(), 1U);
  EXPECT_EQ(after.starts[0].job.id, 2U);
  ASSERT_EQ(after.reservations.size(), 1U);
  EXPECT_EQ(after.reservations[0].job.id, 1U);
  EXPECT_EQ(after.reservations[0].start, 1601);
}

}  // namespace
}  // namespace rubato

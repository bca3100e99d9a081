// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/policy/algorithms/choose.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

Plan plan_of(const Snapshot& snapshot, const Models& models = Models()) {
  return round(snapshot, models, Config(), kNow);
}

std::vector<std::string> nodes_of(const Snapshot& snapshot, const Start& start) {
  std::vector<std::string> names;
  for (const NodeShare& share : start.shares) {
    names.push_back(snapshot.nodes[share.node].name);
  }
  return names;
}
using Names = std::vector<std::string>;

TEST(Place, takes_the_node_where_least_is_left_over) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}, {"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 1, 3)}, kNow + 60);
  add_running(snapshot, {share_of(snapshot, 2, 2)}, kNow + 60);
  add_pending(snapshot, 2);
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(nodes_of(snapshot, plan.starts[0]), Names{"n3"});
}

TEST(Place, spreads_a_gang_over_the_fewest_nodes_and_leaves_the_rest_together) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}, {"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 60);
  add_running(snapshot, {share_of(snapshot, 1, 1)}, kNow + 60);
  add_pending(snapshot, 6);
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  // 3 + 3 leaves nothing; 4 + 2 would leave one GPU on n1 or n2.
  EXPECT_EQ(nodes_of(snapshot, plan.starts[0]), (Names{"n1", "n2"}));
}

TEST(Place, an_untyped_request_takes_the_fastest_type_with_room) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 4}});
  add_pending(snapshot, 4);
  add_pending(snapshot, 4);
  const Plan plan = plan_of(snapshot, Models({{"h100", 3.0}, {"a100", 2.0}}));
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_EQ(plan.starts[0].gpu_type, "h100");
  EXPECT_EQ(plan.starts[1].gpu_type, "a100");
}

TEST(Place, equally_fast_types_differ_by_fit_and_then_by_name) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 2}});
  add_pending(snapshot, 2);
  EXPECT_EQ(plan_of(snapshot).starts.at(0).gpu_type, "h100");
  snapshot = make_cluster({{"h100", 2}, {"a100", 2}});
  add_pending(snapshot, 2);
  EXPECT_EQ(plan_of(snapshot).starts.at(0).gpu_type, "a100");
}

TEST(Place, never_gives_two_types_where_one_can_carry_the_request) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"h100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 600);
  add_pending(snapshot, 8);
  const Plan plan = plan_of(snapshot);
  EXPECT_TRUE(plan.starts.empty());
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].gpu_type, "a100");
}

// 8 a100, of which 4 are held, and 4 h100; the job asks for 8 and may mix.
Snapshot with_a_mixing_job() {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"h100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 600);
  add_pending(snapshot, 8).hints.emplace().mix_types = true;
  return snapshot;
}

TEST(Place, a_job_that_may_mix_takes_two_types_where_none_has_room_for_it) {
  const Plan plan = plan_of(with_a_mixing_job(), Models({{"h100", 3.0}, {"a100", 2.0}}));
  ASSERT_EQ(plan.starts.size(), 1U);
  const Start& start = plan.starts[0];
  EXPECT_EQ(start.gpu_type, "");
  ASSERT_EQ(start.shares.size(), 2U);
  EXPECT_EQ(start.shares[0].gpu_count("a100"), 4);
  EXPECT_EQ(start.shares[1].gpu_count("h100"), 4);
  EXPECT_EQ(start.speeds, (std::vector<GpuSpeed>{{"a100", 2.0}, {"h100", 3.0}}));
}

TEST(Place, a_job_that_may_mix_takes_one_type_where_that_has_room) {
  Snapshot snapshot = with_a_mixing_job();
  snapshot.jobs.front().request.gpus = 4;
  const Plan plan = plan_of(snapshot, Models({{"h100", 3.0}, {"a100", 2.0}}));
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpu_type, "h100");
  EXPECT_TRUE(plan.starts[0].speeds.empty());
}

TEST(Place, a_job_that_may_mix_keeps_to_the_types_that_it_names) {
  Snapshot snapshot = with_a_mixing_job();
  snapshot.jobs.front().hints->gpu_types = {{"a100", "v100"}};
  EXPECT_TRUE(plan_of(snapshot).starts.empty());
  snapshot.jobs.front().hints->gpu_types = {{"h100"}, {"a100"}};
  ASSERT_EQ(plan_of(snapshot).starts.size(), 1U);
  EXPECT_EQ(plan_of(snapshot).starts[0].shares.size(), 2U);
  EXPECT_FALSE(plan_of(snapshot).starts[0].elsewhere) << "Slurm does not know its types";
}

TEST(Place, a_job_of_named_types_that_none_of_them_carries_needs_to_mix) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 4}, {"v100", 8}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 600);
  add_pending(snapshot, 8).hints.emplace().gpu_types = {{"a100", "h100"}};
  Plan plan = plan_of(snapshot);
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_TRUE(plan.reservations.empty());
  snapshot.jobs.front().hints->mix_types = true;
  plan = plan_of(snapshot);
  EXPECT_TRUE(plan.starts.empty()) << "8 v100 and 4 h100 are free";
  ASSERT_EQ(plan.reservations.size(), 1U);
  EXPECT_EQ(plan.reservations[0].start, kNow + 600);
  ASSERT_EQ(plan.reservations[0].shares.size(), 2U);
  EXPECT_EQ(plan.reservations[0].shares[1].gpu_count("h100"), 4);
}

TEST(Place, no_job_mixes_with_the_mechanism_switched_off) {
  Config config;
  config.test_off.insert(Mechanism::kMix);
  EXPECT_TRUE(round(with_a_mixing_job(), Models(), config, kNow).starts.empty());
}

TEST(Place, a_slower_type_that_is_up_goes_before_one_that_must_boot) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 4}});
  snapshot.nodes[1].powered_down = true;
  add_pending(snapshot, 4);
  add_pending(snapshot, 4);
  const Plan plan = plan_of(snapshot, Models({{"h100", 3.0}}));
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_EQ(plan.starts[0].gpu_type, "a100");
  EXPECT_EQ(plan.starts[1].gpu_type, "h100");
}

TEST(Place, lower_weights_go_first) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  snapshot.nodes[0].weight = 5;
  add_pending(snapshot, 1);
  EXPECT_EQ(nodes_of(snapshot, plan_of(snapshot).starts.at(0)), Names{"n2"});
}

TEST(Place, a_typed_request_on_a_mixed_node_takes_its_type) {
  Snapshot snapshot = make_cluster({});
  snapshot.nodes.push_back(make_node("m1", {{"h100", 1}, {"v100", 1}}));
  snapshot.node_sets[0] = {0};
  add_pending(snapshot, 1, "v100");
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].shares[0].gpus, (std::vector<GpuCount>{{"v100", 1}}));
}

TEST(Place, cores_and_memory_count) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  snapshot.nodes[0].cores_free = 7;
  Job& job = add_pending(snapshot, 2);
  job.request.cores_per_gpu = 4;
  EXPECT_TRUE(plan_of(snapshot).starts.empty());
  snapshot.nodes[0].cores_free = 8;
  EXPECT_EQ(plan_of(snapshot).starts.at(0).shares[0].cores, 8);
  job.request.memory_per_gpu = 1000;
  snapshot.nodes[0].memory_free = 1999;
  EXPECT_TRUE(plan_of(snapshot).starts.empty());
  snapshot.nodes[0].memory_free = 2000;
  EXPECT_EQ(plan_of(snapshot).starts.at(0).shares[0].memory, 2000);
}

TEST(Place, whole_nodes_are_empty_and_taken_whole) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  add_running(snapshot, {{0, 1, 0, {}}}, kNow + 600);
  Job& job = add_pending(snapshot, 1);
  job.request.whole_nodes = true;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(nodes_of(snapshot, plan.starts[0]), Names{"n2"});
  EXPECT_EQ(plan.starts[0].shares[0].gpu_count(), 4);
  EXPECT_EQ(plan.starts[0].shares[0].cores, 32);
}

TEST(Place, gpus_on_a_node_come_in_multiples_of_the_quantum) {
  Snapshot snapshot = make_cluster({{"a100", 3}, {"a100", 3}});
  Job& job = add_pending(snapshot, 4);
  job.request.gpu_quantum = 2;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  ASSERT_EQ(plan.starts[0].shares.size(), 2U);
  EXPECT_EQ(plan.starts[0].shares[0].gpu_count(), 2);
}

TEST(Place, a_range_of_nodes_is_filled_as_far_as_there_are_nodes) {
  Snapshot snapshot = make_cluster({{"a100", 2}, {"a100", 2}, {"a100", 2}});
  add_running(snapshot, {share_of(snapshot, 2, 1)}, kNow + 600);
  Job& job = add_pending(snapshot, 0);
  job.request.gpus_per_node = 2;
  job.request.min_nodes = 1;
  job.request.max_nodes = 3;
  EXPECT_EQ(plan_of(snapshot).starts.at(0).shares.size(), 2U);
}

// As in select/cons_tres: a task is on one node, so one task has no use for two.
TEST(Place, no_more_nodes_than_tasks) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  Job& job = add_pending(snapshot, 6);
  const auto placed = [&](int tasks, int gpus) {
    job.request.tasks = tasks;
    job.request.gpus = gpus;
    const Plan plan = plan_of(snapshot);
    return plan.starts.size() == 1 && !plan.starts[0].shares.empty();
  };
  EXPECT_TRUE(placed(0, 6));
  EXPECT_FALSE(placed(1, 6));
  EXPECT_TRUE(placed(2, 6));
  EXPECT_TRUE(placed(1, 4));
}

TEST(Place, every_task_of_an_array_is_a_start) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& job = add_pending(snapshot, 2);
  job.tasks = 3;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_EQ(plan.starts[0].job, plan.starts[1].job);
  EXPECT_NE(plan.explanations[0].reason.find("2 of 3 array tasks"), std::string::npos);
}

// The exact search and the search for large gangs agree on feasibility, and the exact one is never
// worse.
TEST(Choose, a_large_gang_is_whole) {
  std::vector<NodeCandidate> candidates;
  for (int i = 0; i < 200; ++i) {
    NodeCandidate c;
    c.node = NodeIndex{i};
    c.amount = c.free = 1 + i % 8;
    c.weight = static_cast<std::uint64_t>(i % 3);
    candidates.push_back(c);
  }
  Request request;
  request.gpus = 700;
  const Demand demand(request);
  const auto choice = choose(candidates, demand, 1);
  ASSERT_TRUE(choice);
  int sum = 0;
  NodeIndex last;
  for (const auto& [node, amount] : choice->parts) {
    EXPECT_GT(node, last);
    EXPECT_LE(amount, candidates[node].amount);
    EXPECT_GE(amount, 1);
    sum += amount;
    last = node;
  }
  EXPECT_EQ(sum, 700);
  EXPECT_TRUE(carried(candidates, demand, 1));
  request.gpus = 901;
  EXPECT_FALSE(choose(candidates, Demand(request), 1));
  EXPECT_FALSE(carried(candidates, Demand(request), 1));
}

}  // namespace
}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

Plan plan_of(const Snapshot& snapshot, const Config& config = Config(), Seconds now = kNow) {
  Plan plan = round(snapshot, Models(), config, now);
  EXPECT_EQ(check_starts(snapshot, plan), "");
  EXPECT_EQ(check_reservations(snapshot, plan), "");
  return plan;
}

const Reservation* reservation_of(const Plan& plan, JobId id) {
  for (const Reservation& r : plan.reservations) {
    if (r.job.id == id) return &r;
  }
  return nullptr;
}

bool starts(const Plan& plan, JobId id) {
  return std::any_of(plan.starts.begin(), plan.starts.end(),
                     [&](const Start& s) { return s.job.id == id; });
}

// Two nodes of 4 GPUs: 3 of n1 are busy for 600 s, 4 of n2 for 1000 s.
Snapshot busy() {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 600);
  add_running(snapshot, {share_of(snapshot, 1, 4)}, kNow + 1000);
  return snapshot;
}

TEST(Reserve, the_first_job_that_cannot_start_gets_the_earliest_time) {
  Snapshot snapshot = busy();
  const JobId four = add_pending(snapshot, 4).key.id;
  const JobId eight = add_pending(snapshot, 8).key.id;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.reservations.size(), 1U);
  const Reservation* r = reservation_of(plan, four);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->start, kNow + 600);
  EXPECT_EQ(r->shares[0].node, 0);
  EXPECT_EQ(r->reason, ReserveReason::kFirst);
  EXPECT_EQ(reservation_of(plan, eight), nullptr);
  EXPECT_EQ(plan.explanations[0].verdict, Verdict::kReserve);
  // It yields to jobs above it, so it promises nothing yet.
  EXPECT_EQ(r->promised, 0);
  EXPECT_EQ(plan.explanations[0].start_latest, 0);
  EXPECT_EQ(plan.explanations[1].verdict, Verdict::kWait);
}

// Reserved GPUs are idle as they become free.
TEST(Reserve, jobs_that_only_waited_keep_an_eighth_of_the_gpus) {
  Snapshot snapshot = make_cluster(std::vector<std::pair<std::string, int>>(8, {"a100", 4}));
  for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))
    add_running(snapshot, {share_of(snapshot, node, 4)}, kNow + 1000 + node.value());
  Config config;
  std::vector<JobId> jobs;
  for (const int gpus : {1, 4, 3, 4}) {
    Job& job = add_pending(snapshot, gpus);
    job.eligible = kNow - config.reserve_after - 100 - (gpus == 3 ? 50 : 0);
    jobs.push_back(job.key.id);
  }
  const Plan plan = plan_of(snapshot, config);
  EXPECT_NE(reservation_of(plan, jobs[0]), nullptr);  // the first
  EXPECT_EQ(reservation_of(plan, jobs[1]), nullptr);  // 1 + 4 of 32 is more than an eighth
  EXPECT_NE(reservation_of(plan, jobs[2]), nullptr);  // 1 + 3 is not
  EXPECT_EQ(reservation_of(plan, jobs[3]), nullptr);
  EXPECT_NE(plan.explanations[1].reason.find("1 GPU is reserved for jobs before it"),
            std::string::npos)
      << plan.explanations[1].reason;
}

TEST(Reserve, the_longest_waiting_job_may_keep_more) {
  Snapshot snapshot = make_cluster(std::vector<std::pair<std::string, int>>(8, {"a100", 4}));
  for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))
    add_running(snapshot, {share_of(snapshot, node, 4)}, kNow + 1000 + node.value());
  Config config;
  std::vector<JobId> jobs;
  for (const int gpus : {4, 4, 16}) {
    Job& job = add_pending(snapshot, gpus);
    job.eligible = kNow - config.reserve_after - 100 - (gpus == 16 ? 1 : 0);
    jobs.push_back(job.key.id);
  }
  const Plan plan = plan_of(snapshot, config);
  EXPECT_EQ(reservation_of(plan, jobs[1]), nullptr);
  ASSERT_NE(reservation_of(plan, jobs[2]), nullptr);
  EXPECT_EQ(reservation_of(plan, jobs[2])->reason, ReserveReason::kWaited);
}

TEST(Reserve, lower_jobs_fill_in_before_a_reservation_but_not_into_it) {
  Snapshot snapshot = busy();
  add_pending(snapshot, 4);
  Job& longer = add_pending(snapshot, 1);
  longer.time_limit = 601;
  EXPECT_FALSE(starts(plan_of(snapshot), longer.key.id));
  longer.time_limit = 600;
  EXPECT_TRUE(starts(plan_of(snapshot), longer.key.id));
  Config off;
  off.test_off.insert(Mechanism::kReserve);
  longer.time_limit = 601;
  EXPECT_TRUE(starts(plan_of(snapshot, off), longer.key.id));
}

TEST(Reserve, what_a_reservation_does_not_need_stays_open) {
  Snapshot snapshot = busy();
  add_pending(snapshot, 3);  // 3 of n1 at +600; the fourth GPU is free all along
  const JobId small = add_pending(snapshot, 1).key.id;
  EXPECT_TRUE(starts(plan_of(snapshot), small));
}

// A gang of 8 behind 3 and 4 busy GPUs, and a job of one GPU that would run past its start.
Snapshot gang_and_one(Seconds limit_of_one) {
  Snapshot snapshot = busy();
  add_pending(snapshot, 4);
  add_pending(snapshot, 1).time_limit = limit_of_one;
  return snapshot;
}

TEST(Reserve, none_for_a_job_that_is_too_young_or_below_the_priority) {
  for (const bool young : {true, false}) {
    Snapshot snapshot = gang_and_one(7200);
    Job& gang = snapshot.jobs[0];
    const JobId one = snapshot.jobs[1].key.id;
    EXPECT_FALSE(starts(plan_of(snapshot), one)) << "it waits for the reservation";
    gang.priority = 10;
    if (young) gang.reserve_from = kNow + 1;
    if (!young) gang.reserve_priority = 11;
    const Plan plan = plan_of(snapshot);
    EXPECT_EQ(reservation_of(plan, gang.key.id), nullptr);
    EXPECT_TRUE(starts(plan, one));
    gang.reserve_from = kNow;
    gang.reserve_priority = 10;
    EXPECT_NE(reservation_of(plan_of(snapshot), gang.key.id), nullptr);
  }
}

TEST(Reserve, time_min_lets_a_job_start_before_one_with_the_longest_limit_that_fits) {
  Snapshot snapshot = gang_and_one(7200);  // the reservation begins in 600 s
  Job& one = snapshot.jobs[1];
  one.time_min = 120;
  Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job.id, one.key.id);
  EXPECT_EQ(plan.starts[0].time_limit, 600);
  EXPECT_EQ(reservation_of(plan, snapshot.jobs[0].key.id)->start, kNow + 600);

  one.time_min = 660;
  EXPECT_TRUE(plan_of(snapshot).starts.empty());
  // Where nothing is in the way, the limit stays.
  one.time_limit = 600;
  one.time_min = 120;
  plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].time_limit, 0);
}

// A free node that a reservation of Slurm closes to the job is not kept idle for it.
TEST(Reserve, a_start_is_outside_of_the_windows_of_slurms_reservations) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 900);
  Job& job = add_pending(snapshot, 4);
  const JobId id = job.key.id;
  job.time_limit = 3600;
  job.later_set = job.node_set;
  const auto set = [&](NodeIndex node) {
    snapshot.node_sets.push_back({node});
    return NodeSetIndex{snapshot.node_sets.size() - 1};
  };
  job.node_set = set(0);
  snapshot.windows.push_back({"maintenance", kNow + 300, kNow + 600, set(1)});
  Plan plan = plan_of(snapshot);
  ASSERT_NE(reservation_of(plan, id), nullptr);
  EXPECT_EQ(reservation_of(plan, id)->start, kNow + 600);  // when the window ends
  EXPECT_EQ(reservation_of(plan, id)->shares[0].node, 1);

  Job& brief = add_pending(snapshot, 4);
  brief.time_limit = 200;
  EXPECT_TRUE(starts(plan_of(snapshot), brief.key.id));

  snapshot.windows[0].end = kNow + 1000;
  plan = plan_of(snapshot);
  EXPECT_EQ(reservation_of(plan, id)->start, kNow + 900);
  EXPECT_EQ(reservation_of(plan, id)->shares[0].node, 0);
}

TEST(Reserve, long_waits_get_one_too_up_to_the_depth) {
  Snapshot snapshot = busy();
  // With this many GPUs, four times 8 is not more than an eighth.
  snapshot.nodes.push_back(make_node("other", {{"h100", 248}}));
  for (int i = 0; i < 6; ++i) add_pending(snapshot, 8).eligible = kNow - 700;
  Config config;
  EXPECT_EQ(plan_of(snapshot, config).reservations.size(), 4U);
  config.reserve_depth = 2;
  EXPECT_EQ(plan_of(snapshot, config).reservations.size(), 2U);
  config.reserve_after = 701;
  EXPECT_EQ(plan_of(snapshot, config).reservations.size(), 1U);
  config.reserve_depth = 0;
  EXPECT_TRUE(plan_of(snapshot, config).reservations.empty());
}

TEST(Reserve, a_due_starvation_bound_goes_before_everything) {
  Snapshot snapshot = busy();
  Config config;
  config.reserve_depth = 1;
  config.starvation_bound = 7200;
  const JobId first = add_pending(snapshot, 8).key.id;
  Job& starving = add_pending(snapshot, 8);
  starving.eligible = kNow - 3599;
  EXPECT_NE(reservation_of(plan_of(snapshot, config), first), nullptr);
  starving.eligible = kNow - 3600;
  const Plan plan = plan_of(snapshot, config);
  const Reservation* r = reservation_of(plan, starving.key.id);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->reason, ReserveReason::kStarvation);
  EXPECT_EQ(plan.reservations.size(), 1U);
}

TEST(Reserve, it_stays_where_it_is_although_another_order_would_put_it_elsewhere) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  snapshot.memory = plan_of(snapshot).memory;
  // Now n2 would be free at the same time, and is preferred by weight.
  snapshot.jobs.back().end_limit = kNow + 600;
  snapshot.nodes[0].weight = 100;
  const Plan plan = plan_of(snapshot);
  EXPECT_EQ(*reservation_of(plan, job), snapshot.memory.reservations[0]);
}

TEST(Reserve, it_moves_only_for_more_than_a_minute_and_a_tenth_of_the_wait) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  snapshot.memory = plan_of(snapshot).memory;
  Job& on_n2 = snapshot.jobs.back();
  for (const Seconds end : {540, 541, 599}) {
    on_n2.end_limit = kNow + end;
    EXPECT_EQ(reservation_of(plan_of(snapshot), job)->start, kNow + 600) << end;
  }
  on_n2.end_limit = kNow + 539;
  const Reservation* moved = nullptr;
  const Plan plan = plan_of(snapshot);
  moved = reservation_of(plan, job);
  EXPECT_EQ(moved->start, kNow + 539);
  EXPECT_EQ(moved->shares[0].node, 1);
  EXPECT_EQ(moved->made, kNow);
}

TEST(Reserve, it_does_not_flap) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  snapshot.jobs[0].eligible = kNow;
  const Plan first = plan_of(snapshot);
  snapshot.memory = first.memory;
  for (int i = 1; i < 590; i += 7) {
    snapshot.taken = kNow + i;
    const Plan plan = plan_of(snapshot, Config(), kNow + i);
    ASSERT_EQ(*reservation_of(plan, job), first.reservations[0]) << i;
    snapshot.memory = plan.memory;
  }
}

TEST(Reserve, the_first_of_the_order_yields_to_a_job_put_above_it_until_it_has_waited) {
  Snapshot snapshot = busy();
  const JobId low = add_pending(snapshot, 4).key.id;
  snapshot.memory = plan_of(snapshot).memory;
  ASSERT_EQ(snapshot.memory.reservations[0].reason, ReserveReason::kFirst);
  const JobId high = add_pending(snapshot, 4).key.id;
  std::swap(snapshot.jobs[0].rank, snapshot.jobs[1].rank);
  std::swap(snapshot.jobs[0], snapshot.jobs[1]);
  Plan plan = plan_of(snapshot);
  EXPECT_EQ(reservation_of(plan, high)->start, kNow + 600);
  EXPECT_EQ(reservation_of(plan, low)->start, kNow + 1000);

  // 60 s of waiting have already passed.
  const Seconds later = kNow + 540;
  plan = plan_of(snapshot, Config(), later);
  EXPECT_EQ(reservation_of(plan, low)->start, kNow + 600);
  EXPECT_EQ(reservation_of(plan, low)->reason, ReserveReason::kWaited);
  EXPECT_EQ(reservation_of(plan, high)->start, kNow + 1000);
}

TEST(Reserve, a_node_that_goes_down_moves_it) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  snapshot.memory = plan_of(snapshot).memory;
  snapshot.nodes[0].usable = false;
  const Plan plan = plan_of(snapshot);
  EXPECT_EQ(reservation_of(plan, job)->start, kNow + 1000);
  EXPECT_EQ(reservation_of(plan, job)->shares[0].node, 1);
  EXPECT_EQ(reservation_of(plan, job)->made, kNow);
}

TEST(Reserve, it_ends_with_the_start_of_the_job) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  snapshot.memory = plan_of(snapshot).memory;
  snapshot = advance(snapshot, kNow + 600);
  const Plan plan = plan_of(snapshot, Config(), kNow + 600);
  EXPECT_TRUE(starts(plan, job));
  EXPECT_TRUE(plan.reservations.empty());
  EXPECT_TRUE(plan.memory.reservations.empty());
}

TEST(Reserve, jobs_without_a_limit_are_drained) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}, {"a100", 4}});
  for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))
    add_running(snapshot, {share_of(snapshot, node, node.value() + 1)}, kForever);
  Job& gang = add_pending(snapshot, 0);
  gang.request.gpus_per_node = 4;
  gang.request.min_nodes = gang.request.max_nodes = 2;
  const JobId gang_id = gang.key.id;
  Job& forever = add_pending(snapshot, 1);
  forever.time_limit = kForever;
  const JobId forever_id = forever.key.id;
  const JobId short_id = add_pending(snapshot, 1).key.id;
  Plan plan = plan_of(snapshot);
  const Reservation* r = reservation_of(plan, gang_id);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->start, kForever);
  // The two nodes that need least time; a job without a limit goes to the third, one with a limit
  // fills in.
  EXPECT_EQ(r->shares[0].node, 0);
  EXPECT_EQ(r->shares[1].node, 1);
  for (const Start& start : plan.starts) {
    if (start.job.id == forever_id) {
      EXPECT_EQ(start.shares[0].node, 2);
    }
  }
  EXPECT_TRUE(starts(plan, forever_id));
  EXPECT_TRUE(starts(plan, short_id));
  EXPECT_EQ(plan.explanations[0].start_latest, 0);
  EXPECT_TRUE(plan.explanations[0].reason.starts_with(
      "waits for n1,n2: jobs without a time limit run there; jobs with a limit may use them "
      "meanwhile; "))
      << plan.explanations[0].reason;

  // After the jobs without a limit have ended, there is a start.
  snapshot = apply(snapshot, plan);
  std::erase_if(snapshot.jobs, [](const Job& job) { return job.end_limit >= kForever; });
  for (const NodeIndex node : indices<NodeIndex>(2)) {
    snapshot.nodes[node].gpus[0].free += node.value() + 1;
    snapshot.nodes[node].cores_free += node.value() + 1;
  }
  plan = plan_of(snapshot);
  ASSERT_NE(reservation_of(plan, gang_id), nullptr);
  EXPECT_EQ(reservation_of(plan, gang_id)->start, kNow + 3600);
}

// A drain takes nodes one by one as they become free, whichever they are.
TEST(Reserve, a_drain_gathers_nodes_as_they_come_free) {
  Snapshot snapshot = make_cluster({{"a100", 1}, {"a100", 1}, {"a100", 1}, {"a100", 1}});
  for (const NodeIndex node : indices<NodeIndex>(snapshot.nodes))
    add_running(snapshot, {share_of(snapshot, node, 1)}, kForever);
  Job& gang = add_pending(snapshot, 0);
  gang.request.gpus_per_node = 1;
  gang.request.min_nodes = gang.request.max_nodes = 2;
  const JobId id = gang.key.id;
  for (int i = 0; i < 5; ++i) add_pending(snapshot, 1).time_limit = kForever;
  Plan plan = plan_of(snapshot);
  for (const NodeIndex ends : {NodeIndex{3}, NodeIndex{2}}) {
    snapshot = apply(snapshot, plan);
    std::erase_if(snapshot.jobs, [&](const Job& job) {
      return job.state == JobState::kRunning && job.allocation[0].node == ends;
    });
    Node& node = snapshot.nodes[ends];
    node.gpus[0].free = 1;
    node.cores_free = node.cores;
    plan = plan_of(snapshot);
    if (ends == 3) {
      EXPECT_TRUE(plan.starts.empty());
    }
  }
  EXPECT_TRUE(starts(plan, id));
}

TEST(Reserve, a_refused_job_tries_again_later_and_is_reserved_what_backfill_finds) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  const JobId job = add_pending(snapshot, 2).key.id;
  JobMemory memory;
  memory.job = snapshot.jobs[0].key;
  memory.refusals = 3;
  memory.refusal = "Requested nodes are busy";
  memory.last_try = kNow - 3;
  snapshot.memory.jobs = {memory};
  Plan plan = plan_of(snapshot);
  EXPECT_FALSE(starts(plan, job));
  EXPECT_NE(reservation_of(plan, job), nullptr);
  EXPECT_NE(plan.explanations[0].reason.find("Requested nodes are busy"), std::string::npos);
  EXPECT_EQ(plan.explanations[0].start_earliest, kNow + 1);
  EXPECT_TRUE(starts(plan_of(snapshot, Config(), kNow + 1), job));

  snapshot.memory = plan.memory;
  snapshot.memory.jobs[0].refusals = 5;
  snapshot.memory.jobs[0].last_try = kNow;
  snapshot.memory.reservations.clear();
  plan = plan_of(snapshot);
  EXPECT_FALSE(starts(plan, job));
  EXPECT_EQ(reservation_of(plan, job), nullptr);
  EXPECT_FALSE(starts(plan_of(snapshot, Config(), kNow + 15), job));
  EXPECT_TRUE(starts(plan_of(snapshot, Config(), kNow + 16), job));

  snapshot.jobs[0].stock_start = kNow + 300;
  snapshot.jobs[0].stock_nodes = {0};
  plan = plan_of(snapshot);
  ASSERT_NE(reservation_of(plan, job), nullptr);
  EXPECT_EQ(reservation_of(plan, job)->start, kNow + 300);
  Config off;
  off.test_off.insert(Mechanism::kAskBackfill);
  EXPECT_EQ(reservation_of(plan_of(snapshot, off), job), nullptr);
}

// The model would take n1, which is free first. Slurm says n2, where other jobs then end in time.
TEST(Reserve, what_backfill_found_stays_and_starts_there_though_it_was_just_refused) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  JobMemory memory;
  memory.job = snapshot.jobs.front().key;
  memory.first_seen = kNow;
  memory.refusals = 5;
  memory.last_try = kNow - 1;
  snapshot.memory.jobs = {memory};
  Job& entry = snapshot.jobs.front();
  entry.stock_start = kNow + 1000;
  entry.stock_nodes = {1};
  Plan plan = plan_of(snapshot);
  const Reservation* r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->start, kNow + 1000);
  EXPECT_EQ(r->shares[0].node, 1);

  // The model's own reservation of such a job is worth nothing.
  snapshot.memory.reservations = plan.reservations;
  snapshot.memory.reservations[0].backfill = false;
  EXPECT_EQ(reservation_of(plan_of(snapshot), job)->start, kNow + 1000);

  // A backfill cycle that did not reach the job takes nothing away.
  snapshot.memory = plan.memory;
  snapshot.jobs.front().stock_start = 0;
  snapshot.jobs.front().stock_nodes.clear();
  plan = plan_of(snapshot);
  ASSERT_NE(reservation_of(plan, job), nullptr);
  EXPECT_EQ(reservation_of(plan, job)->start, kNow + 1000);

  // All nodes are free at its start. The last refusal was a second ago.
  snapshot.jobs.erase(snapshot.jobs.begin() + 1, snapshot.jobs.end());
  for (Node& node : snapshot.nodes) {
    node.gpus[0].free = 4;
    node.cores_free = node.cores;
    node.memory_free = node.memory;
  }
  snapshot.memory = plan.memory;
  snapshot.memory.jobs[0].last_try = kNow + 999;
  snapshot.memory.jobs[0].refused_free = 1000;
  plan = plan_of(snapshot, Config(), kNow + 1000);
  ASSERT_TRUE(starts(plan, job));
  EXPECT_EQ(plan.starts[0].shares[0].node, 1);

  // Refused there as well: the nodes are not kept for it until backfill finds others.
  snapshot.memory.jobs[0].last_try = kNow + 1000;
  EXPECT_EQ(reservation_of(plan_of(snapshot, Config(), kNow + 1001), job), nullptr);
}

// Stock backfill sees nodes of one type only, for it might mix several.
TEST(Reserve, a_job_whose_hints_name_gpu_types_is_left_to_backfill) {
  Snapshot snapshot = busy();
  Job& entry = add_pending(snapshot, 4);
  const JobId job = entry.key.id;
  entry.eligible = kNow - 4000;
  entry.stock_start = kNow + 1000;
  entry.stock_nodes = {1};
  entry.hints.emplace();
  JobMemory memory;
  memory.job = entry.key;
  memory.first_seen = kNow;
  memory.refusals = 5;
  memory.last_try = kNow - 1;
  snapshot.memory.jobs = {memory};
  for (const auto& [types, reserved] : std::map<GpuTypes, bool>{{{{"a100"}}, true},
                                                                {{{"a100", "h100"}}, true},
                                                                {{{"h100"}, {"a100"}}, true},
                                                                {{{"h100"}}, false}}) {
    for (Job& one : snapshot.jobs)
      if (one.key.id == job) one.hints->gpu_types = types;
    const Plan plan = plan_of(snapshot);
    ASSERT_EQ(reservation_of(plan, job) != nullptr, reserved) << types.size();
    if (!reserved) continue;
    EXPECT_EQ(reservation_of(plan, job)->shares[0].node, 1);
  }
}

TEST(Reserve, backfill_plans_a_job_on_the_best_type_with_enough_nodes_in_service) {
  Snapshot snapshot =
      make_cluster({{"h100", 4}, {"h100", 4}, {"a100", 4}, {"a100", 4}, {"a100", 4}});
  snapshot.nodes[4].gpus.push_back({"v100", 4, 4});
  Job& job = add_pending(snapshot, 8);
  const auto type = [&]() -> std::string {
    const std::string* const found = backfill_type(snapshot, job);
    return found != nullptr ? *found : "";
  };
  EXPECT_EQ(type(), "");
  job.hints.emplace();
  EXPECT_EQ(type(), "");
  job.hints->gpu_types = {{"h100"}, {"v100", "a100"}};
  EXPECT_EQ(type(), "h100");
  job.request.gpus = 12;  // more than two nodes have
  EXPECT_EQ(type(), "");
  job.request.gpus = 8;
  snapshot.nodes[0].usable = false;
  EXPECT_EQ(type(), "a100");
  snapshot.nodes[0].coming = true;
  EXPECT_EQ(type(), "h100");
  job.request.min_nodes = 3;
  EXPECT_EQ(type(), "");  // the third node with a100 has v100 as well
}

TEST(Reserve, a_promise_that_slurm_refused_is_remembered) {
  Snapshot snapshot = busy();
  Job& entry = add_pending(snapshot, 4);
  const JobId job = entry.key.id;
  entry.eligible = kNow - 4000;  // longer than ReserveAfter
  entry.stock_start = kNow + 1000;
  entry.stock_nodes = {1};
  JobMemory memory;
  memory.job = entry.key;
  memory.first_seen = kNow;
  memory.refusals = 5;
  memory.last_try = kNow - 1;
  snapshot.memory.jobs = {memory};
  Plan plan = plan_of(snapshot);
  const Reservation* r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->promised, kNow + 1000);

  // Slurm refuses the start. For a round backfill has no other.
  const auto job_of = [&]() -> Job& {
    return *std::ranges::find(snapshot.jobs, job, [](const Job& one) { return one.key.id; });
  };
  snapshot.memory = plan.memory;
  snapshot.memory.jobs[0].last_try = kNow + 1000;
  job_of().stock_start = 0;
  job_of().stock_nodes.clear();
  plan = plan_of(snapshot, Config(), kNow + 1001);
  EXPECT_EQ(reservation_of(plan, job), nullptr);

  snapshot.memory = plan.memory;
  job_of().stock_start = kNow + 1300;
  job_of().stock_nodes = {1};
  plan = plan_of(snapshot, Config(), kNow + 1002);
  r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->start, kNow + 1300);
  EXPECT_EQ(r->promised, kNow + 1000);
  EXPECT_EQ(r->delayed_by, "slurmctld refused its start");

  // A job that is held has no promise to keep.
  snapshot.memory = plan.memory;
  job_of().block = Block::kOther;
  plan = plan_of(snapshot, Config(), kNow + 1003);
  snapshot.memory = plan.memory;
  job_of().block = Block::kNone;
  plan = plan_of(snapshot, Config(), kNow + 1004);
  r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->promised, kNow + 1300);
  EXPECT_EQ(r->delayed_by, "");
}

TEST(Reserve, a_later_start_than_promised_names_its_cause) {
  Snapshot snapshot = busy();
  snapshot.taken = kNow;
  Job& waiting = add_pending(snapshot, 4);
  waiting.eligible = kNow - 4000;  // longer than ReserveAfter
  const JobId job = waiting.key.id;
  Plan plan = plan_of(snapshot);
  const Reservation* r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->promised, kNow + 600);
  EXPECT_EQ(r->delayed_by, "");
  EXPECT_EQ(plan.explanations[0].start_latest, kNow + 600);

  snapshot.memory = plan.memory;
  snapshot.nodes[0].usable = false;
  plan = plan_of(snapshot);
  r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->start, kNow + 1000);
  EXPECT_EQ(r->promised, kNow + 600);
  EXPECT_EQ(r->delayed_by, "n1 is not available");
  EXPECT_NE(plan.explanations[0].reason.find("later than promised: n1 is not available"),
            std::string::npos)
      << plan.explanations[0].reason;

  // What is earlier again is no delay any more.
  snapshot.memory = plan.memory;
  snapshot.nodes[0].usable = true;
  plan = plan_of(snapshot);
  r = reservation_of(plan, job);
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->start, kNow + 600);
  EXPECT_EQ(r->delayed_by, "");
}

TEST(Reserve, an_answer_to_a_question_without_room_does_not_count_against_a_reservation) {
  Snapshot snapshot = busy();
  const JobId job = add_pending(snapshot, 4).key.id;
  JobMemory memory;
  memory.job = snapshot.jobs[0].key;
  memory.first_seen = kNow;
  memory.last_try = kNow - 1;
  memory.refusals = 9;
  memory.asked = 9;
  snapshot.memory.jobs = {memory};
  EXPECT_NE(reservation_of(plan_of(snapshot), job), nullptr);
  snapshot.memory.jobs[0].asked = 4;  // five refusals of planned starts
  EXPECT_EQ(reservation_of(plan_of(snapshot), job), nullptr);
}

TEST(Reserve, a_refusal_is_forgotten_when_the_request_changes_and_tried_when_room_grows) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 600);
  const JobId job = add_pending(snapshot, 2).key.id;
  JobMemory memory;
  memory.job = snapshot.jobs[0].key;
  memory.refusals = 10;
  memory.last_try = kNow;
  snapshot.memory.jobs = {memory};
  snapshot.memory = plan_of(snapshot).memory;
  EXPECT_EQ(snapshot.memory.jobs[0].refusals, 10);
  EXPECT_FALSE(starts(plan_of(snapshot, Config(), kNow + 59), job));

  Snapshot changed = snapshot;
  changed.jobs[0].request.gpus = 1;
  const Plan plan = plan_of(changed);
  EXPECT_TRUE(starts(plan, job));
  EXPECT_EQ(plan.memory.jobs[0].refusals, 0);

  Snapshot grown = snapshot;
  grown.nodes[0].cores_free += 1;
  EXPECT_TRUE(starts(plan_of(grown), job));
}

}  // namespace
}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduling pass: which jobs are tried, in what order, and beside which others.
#include <gtest/gtest.h>

#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

Plan plan_of(const Snapshot& snapshot, const Config& config = Config()) {
  return round(snapshot, Models(), config, kNow);
}

bool starts(const Plan& plan, JobId id) {
  return std::any_of(plan.starts.begin(), plan.starts.end(),
                     [&](const Start& s) { return s.job.id == id; });
}

Job& add_unmanaged(Snapshot& snapshot, int cores) {
  Job& job = add_pending(snapshot, 0);
  job.managed = false;
  job.partition = "cpu";
  job.request.cores = cores;
  return job;
}

Verdict verdict_of(const Plan& plan, JobId id) {
  for (const Explanation& e : plan.explanations) {
    if (e.job.id == id) return e.verdict;
  }
  return Verdict::kBlocked;
}

TEST(SchedulingPass, het_and_blocked_jobs_keep_their_place_and_are_left_alone) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& het = add_pending(snapshot, 4);
  het.het = true;
  Job& blocked = add_pending(snapshot, 4);
  blocked.block = Block::kLicense;
  blocked.block_text = "Licenses";
  const JobId last = add_pending(snapshot, 4).key.id;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job.id, last);
  EXPECT_EQ(plan.explanations[0].verdict, Verdict::kStock);
  EXPECT_EQ(plan.explanations[1].verdict, Verdict::kBlocked);
  EXPECT_NE(plan.explanations[1].reason.find("Licenses"), std::string::npos);
}

TEST(SchedulingPass, unmanaged_jobs_are_attempted_in_their_place_and_counted) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  const JobId cpu = add_unmanaged(snapshot, 30).key.id;
  Job& gpu = add_pending(snapshot, 1);
  gpu.request.cores = 3;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job.id, cpu);
  EXPECT_FALSE(plan.starts[0].managed);
  EXPECT_TRUE(plan.starts[0].shares.empty());
  // 2 cores are left after what the unmanaged job probably uses.
  EXPECT_EQ(verdict_of(plan, gpu.key.id), Verdict::kReserve);
}

TEST(SchedulingPass, the_first_unmanaged_job_without_room_holds_up_the_lower_ones_of_its_nodes) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  snapshot.node_sets.push_back({0});
  snapshot.node_sets.push_back({1});
  snapshot.partitions.insert(snapshot.partitions.begin(), {"cpu", 1, false, 1});
  snapshot.partitions.push_back({"other", 1, false, 2});
  add_running(snapshot, {{0, 10, 0, {}}}, kNow + 600);
  Job& first = add_unmanaged(snapshot, 30);
  first.node_set = 1;
  Job& second = add_unmanaged(snapshot, 1);
  second.node_set = 1;
  const JobId second_id = second.key.id;
  Job& elsewhere = add_unmanaged(snapshot, 1);
  elsewhere.partition = "other";
  elsewhere.node_set = 2;
  const JobId elsewhere_id = elsewhere.key.id;
  const Plan plan = plan_of(snapshot);
  // The model is not exact: slurmctld is asked about the first job, not about later ones.
  ASSERT_EQ(plan.starts.size(), 2U);
  EXPECT_EQ(verdict_of(plan, plan.explanations[0].job.id), Verdict::kAttempt);
  EXPECT_EQ(verdict_of(plan, second_id), Verdict::kWait);
  EXPECT_EQ(verdict_of(plan, elsewhere_id), Verdict::kAttempt);
}

TEST(SchedulingPass, the_plan_of_stock_backfill_for_an_earlier_job_is_respected) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& cpu = add_unmanaged(snapshot, 64);
  cpu.stock_start = kNow + 1800;
  cpu.stock_nodes = {0};
  Job& gpu = add_pending(snapshot, 1);
  const JobId id = gpu.key.id;
  gpu.time_limit = 1801;
  EXPECT_FALSE(starts(plan_of(snapshot), id));
  Config off;
  off.test_off.insert(Mechanism::kStockPlan);
  EXPECT_TRUE(starts(plan_of(snapshot, off), id));
  gpu.time_limit = 1800;
  EXPECT_TRUE(starts(plan_of(snapshot), id));
  // That is not the case for a later job.
  gpu.time_limit = 1801;
  std::swap(snapshot.jobs[0].rank, snapshot.jobs[1].rank);
  std::swap(snapshot.jobs[0], snapshot.jobs[1]);
  EXPECT_TRUE(starts(plan_of(snapshot), id));
}

TEST(SchedulingPass, a_job_that_may_preempt_asks_slurm) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 600);
  Job& job = add_pending(snapshot, 4);
  job.may_preempt = true;
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_TRUE(plan.starts[0].managed);
  EXPECT_TRUE(plan.starts[0].shares.empty());
  EXPECT_EQ(plan.explanations[0].verdict, Verdict::kAttempt);
}

TEST(SchedulingPass, while_slurm_makes_room_for_a_job_nobody_below_takes_its_nodes) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 600);
  Job& job = add_pending(snapshot, 4);
  job.may_preempt = job.preempting = true;
  Job& low = add_pending(snapshot, 1);
  low.time_limit = 60;
  const JobId id = low.key.id;
  EXPECT_FALSE(starts(plan_of(snapshot), id));
  snapshot.jobs[0].preempting = false;
  EXPECT_TRUE(starts(plan_of(snapshot), id));
}

TEST(SchedulingPass, slurm_is_asked_about_what_the_model_holds_to_be_impossible) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_pending(snapshot, 5, "a100");
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_TRUE(plan.starts[0].shares.empty());
  EXPECT_TRUE(plan.reservations.empty());
}

TEST(SchedulingPass, a_job_in_two_partitions_starts_once_where_there_is_room) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 4}});
  snapshot.node_sets = {{0}, {1}};
  snapshot.partitions = {{"left", 1, true, 0}, {"right", 1, true, 1}};
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 600);
  Job left = add_pending(snapshot, 2);
  snapshot.jobs[0].partition = "left";
  Job right = left;
  right.partition = "right";
  right.node_set = 1;
  right.rank = 1;
  snapshot.jobs.insert(snapshot.jobs.begin() + 1, right);
  const Plan plan = plan_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].partition, "right");
  EXPECT_TRUE(plan.reservations.empty());
  EXPECT_EQ(plan.explanations[0].verdict, Verdict::kWait);
  EXPECT_EQ(plan.explanations[0].reason, "starts in partition right");
  EXPECT_EQ(plan.explanations[1].verdict, Verdict::kStart);

  // The second entry is not tried when the first one starts.
  std::erase_if(snapshot.jobs, [](const Job& job) { return job.state == JobState::kRunning; });
  snapshot.nodes[0].gpus[0].free = 4;
  const Plan other = plan_of(snapshot);
  ASSERT_EQ(other.starts.size(), 1U);
  EXPECT_EQ(other.starts[0].partition, "left");
}

TEST(SchedulingPass, starts_of_lower_jobs_are_counted) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 600);
  add_pending(snapshot, 4);
  for (int i = 0; i < 2; ++i) add_pending(snapshot, 1).time_limit = 300;
  Plan plan = plan_of(snapshot);
  EXPECT_EQ(plan.starts.size(), 2U);
  EXPECT_EQ(plan.memory.jobs[0].passed, 2);
  EXPECT_EQ(plan.memory.jobs[0].passed_since, kNow);
  snapshot.memory = plan.memory;
  plan = plan_of(snapshot);
  EXPECT_EQ(plan.memory.jobs[0].passed, 4);
  EXPECT_EQ(plan.memory.round, 2U);
}

TEST(SchedulingPass, a_job_that_still_runs_is_not_started_again) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& job = add_pending(snapshot, 1);
  const JobKey key = job.key;
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 600).key = key;
  const Plan plan = plan_of(snapshot);
  EXPECT_TRUE(plan.starts.empty());
  EXPECT_EQ(plan.explanations[0].verdict, Verdict::kWait);
}

TEST(SchedulingPass, a_snapshot_with_senseless_indices_is_survived) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  snapshot.node_sets.push_back({0, 7});
  add_pending(snapshot, 1).node_set = 1;
  add_pending(snapshot, 1).node_set = 9;
  add_pending(snapshot, 1).node_set = -1;
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 600).allocation[0].node = 50;
  const Plan plan = plan_of(snapshot);
  EXPECT_EQ(plan.explanations.size(), 3U);
  for (const Start& start : plan.starts) EXPECT_TRUE(start.shares.empty());
}

// Simulated time: an endless stream of 1-GPU jobs that fills free GPUs, and an 8-node gang.
class Stream {
 public:
  explicit Stream(Config config) : config_(std::move(config)) {
    snapshot_ = make_cluster(std::vector<std::pair<std::string, int>>(8, {"a100", 4}));
    for (int i = 0; i < 64; ++i) small();
    gang_ = gang();
  }

  /// The start of the gang; 0 if it has not started by `until`.
  Seconds run(Seconds until) {
    for (Seconds now = kNow; now < kNow + until; now += 20) {
      snapshot_ = advance(std::move(snapshot_), now);
      while (pending() < 40) small();
      const Plan plan = round(snapshot_, Models(), config_, now);
      EXPECT_EQ(check_starts(snapshot_, plan), "");
      if (starts(plan, gang_)) return now - kNow;
      snapshot_ = apply(snapshot_, plan);
    }
    return 0;
  }

 private:
  // Every second small job has a higher priority than all waiting jobs, including the gang.
  void small() {
    Job job = add_pending(snapshot_, 1);
    std::erase_if(snapshot_.jobs, [&](const Job& other) { return other.key == job.key; });
    job.key.id = ++last_;
    job.label = std::to_string(last_);
    job.eligible = snapshot_.taken;
    job.time_limit = 600 + 60 * static_cast<Seconds>(last_ % 7);
    if (last_ % 2 == 0) {
      for (Job& other : snapshot_.jobs) other.rank += other.state == JobState::kPending ? 1 : 0;
      job.rank = 0;
      snapshot_.jobs.insert(snapshot_.jobs.begin(), job);
    } else {
      snapshot_.jobs.insert(snapshot_.jobs.begin() + pending(), job);
    }
  }
  JobId gang() {
    Job& job = add_pending(snapshot_, 0);
    job.key.id = 1'000'000;
    job.label = "gang";
    job.request.gpus_per_node = 4;
    job.request.min_nodes = job.request.max_nodes = 8;
    return job.key.id;
  }
  std::ptrdiff_t pending() const {
    return std::count_if(snapshot_.jobs.begin(), snapshot_.jobs.end(),
                         [](const Job& job) { return job.state == JobState::kPending; });
  }

  Config config_;
  Snapshot snapshot_;
  JobId last_ = 0;
  JobId gang_ = 0;
};

TEST(Stream, a_gang_of_all_nodes_starts_in_an_endless_stream_of_small_jobs) {
  const Seconds start = Stream(Config()).run(6 * 3600);
  EXPECT_GT(start, 0);
  // ReserveAfter, plus at most the longest limit of a small job.
  EXPECT_LE(start, 600 + 960 + 60);
}

TEST(Stream, and_does_not_without_reservations) {
  Config off;
  off.test_off.insert(Mechanism::kReserve);
  EXPECT_EQ(Stream(off).run(6 * 3600), 0);
}

}  // namespace
}  // namespace rubato::test

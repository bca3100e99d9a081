// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs with device=any: on CPUs while GPUs are busy, and from CPUs to GPUs by a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::kNow;
using ::testing::HasSubstr;

/// "net" does 100 samples/s on a GPU and 50 on four cores.
Models measured() {
  ThroughputObservation on_gpu;
  on_gpu.profile = {"lab", "net"};
  on_gpu.gpu_type = "fast";
  on_gpu.gpus = 1;
  on_gpu.throughput = 100;
  on_gpu.samples = 100;
  MeasuredRow row;
  row.profile = on_gpu.profile;
  row.nodes = 1;
  row.cores = 4;
  row.batch = 64;
  row.throughput = 50;
  row.samples = 100;
  return Models({}, std::make_shared<const ThroughputModel>(TypeSpeeds(), std::vector{on_gpu}),
                std::make_shared<const StepTimeModels>(std::vector{row}));
}

ResolvedHints may_use_any() {
  ResolvedHints hints;
  hints.job_type = "net";
  hints.work = Work{WorkUnit::kSamples, 10'000, 0};
  hints.device = Device::kAny;
  hints.sizes = GpuSizes({{1, 1}});
  return hints;
}

/// n1 with a GPU and 32 cores, n2 with cores alone. Another job may hold the GPU.
class CpusTest : public ::testing::Test {
 protected:
  CpusTest() {
    snapshot_.nodes.push_back(test::make_node("n2", {}));
    snapshot_.node_sets[0].push_back(1);
  }
  Job& waiting() {
    Job& job = test::add_pending(snapshot_, 1);
    job.account = "lab";
    job.later_set = 0;
    job.request.cores = 4;
    job.hints = may_use_any();
    return job;
  }
  /// Another job holds the GPU for so many seconds.
  void hold_gpu(Seconds left) {
    test::add_running(snapshot_, {test::share_of(snapshot_, 0, 1)}, kNow + left);
  }
  /// The job runs on CPUs of n2 with so many samples done, as its report says.
  Job& on_cpus(std::int64_t done) {
    Job& job = test::add_running(snapshot_, {NodeShare{1, 4, 0, {}}}, kNow + 100'000);
    job.account = "lab";
    job.eligible = job.start;
    job.node_set = job.later_set = 0;
    job.request.gpus = 1;
    job.request.cores = 4;
    job.hints = may_use_any();
    job.hints->checkpoint.signal = SIGUSR1;
    job.hints->resize = Resize::kRestart;
    job.costs = {10, 10, 10};
    snapshot_.memory.progress = {
        {.job = job.key, .time = kNow - 1, .samples = done, .throughput = 50, .batch = 64}};
    return job;
  }
  [[nodiscard]] Plan decide(Mode mode = Mode::kPlace, std::set<Mechanism> off = {}) const {
    Config config = test::managing_all(mode);
    config.test_off = std::move(off);
    return round(snapshot_, measured(), config, kNow);
  }

  Snapshot snapshot_ = test::make_cluster({{"fast", 1}});
};

// 200 s on CPUs; on the GPU 100 s after the wait.
TEST_F(CpusTest, AJobStartsOnThemWhereItWouldWaitLongerForGpus) {
  hold_gpu(1000);
  waiting();
  for (const Mode mode : {Mode::kPlace, Mode::kElastic}) {
    const Plan plan = decide(mode);
    ASSERT_EQ(plan.starts.size(), 1U) << to_string(mode);
    const Start& start = plan.starts[0];
    EXPECT_TRUE(start.on_cpus);
    EXPECT_EQ(start.gpus, 0);
    EXPECT_EQ(start.gpu_type, "");
    ASSERT_EQ(start.shares.size(), 1U);
    EXPECT_EQ(start.shares[0], (NodeShare{1, 4, 0, {}})) << "the node without GPUs";
    EXPECT_THAT(plan.explanations[0].reason,
                HasSubstr("with 4 cores instead of GPUs, on which it would end later"));
  }
}

TEST_F(CpusTest, AJobWaitsForGpusThatComeSoon) {
  hold_gpu(60);
  waiting();
  EXPECT_TRUE(decide().starts.empty());
}

TEST_F(CpusTest, AJobTakesGpusThatAreFree) {
  waiting();
  const Plan plan = decide();
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_FALSE(plan.starts[0].on_cpus);
}

TEST_F(CpusTest, TheQueueCountsAsAWait) {
  hold_gpu(60);
  for (int i = 0; i < 4; ++i) waiting().hints->device = Device::kGpu;
  const JobKey last = waiting().key;
  const Plan plan = decide();
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job, last);
  EXPECT_TRUE(plan.starts[0].on_cpus);
}

TEST_F(CpusTest, WhatIsNotKnownKeepsAJobWaiting) {
  hold_gpu(1000);
  Job& job = waiting();
  job.hints->device = Device::kGpu;
  EXPECT_TRUE(decide().starts.empty()) << "it asks for GPUs";
  job.hints->device = Device::kAny;
  job.hints->work.reset();
  EXPECT_TRUE(decide().starts.empty()) << "its work is not known";
  job.hints = may_use_any();
  job.time_limit = 210;
  EXPECT_TRUE(decide().starts.empty()) << "its time limit may end it";
  job.time_limit = 3600;
  job.hints->job_type = "other";
  EXPECT_TRUE(decide().starts.empty()) << "its type was never measured on CPUs";
  job.hints = may_use_any();
  EXPECT_TRUE(decide(Mode::kPlace, {Mechanism::kCpus}).starts.empty());
  EXPECT_EQ(decide().starts.size(), 1U);
}

// Two cores a GPU: those of the free one stay free for it.
TEST_F(CpusTest, FreeGpusKeepTheirCores) {
  snapshot_ = test::make_cluster({{"fast", 2}});
  snapshot_.nodes[0].cores = snapshot_.nodes[0].cores_free = 8;
  Job& job = waiting();
  job.hints->sizes = GpuSizes({{2, 2}});
  job.request.gpus = 2;
  hold_gpu(10'000);  // with one core
  EXPECT_EQ(snapshot_.nodes[0].cores_free, 7);
  snapshot_.jobs.front().request.cores = 4;
  EXPECT_TRUE(decide().starts.empty()) << "3 of 7 cores are not those of the free GPU";
}

TEST_F(CpusTest, AJobOnThemMovesToAFreeGpu) {
  on_cpus(0);
  const Plan plan = decide(Mode::kElastic);
  ASSERT_EQ(plan.changes.size(), 1U);
  const Change& change = plan.changes[0];
  EXPECT_EQ(change.action, ChangeAction::kRestart);
  EXPECT_EQ(change.gpus, 1);
  EXPECT_EQ(change.gpu_type, "fast");
  ASSERT_EQ(change.shares.size(), 1U);
  EXPECT_EQ(change.shares[0].node, NodeIndex{0});
  EXPECT_NEAR(change.seconds_left, 200, 5);
  EXPECT_NEAR(change.seconds_then, 110, 5);
  EXPECT_TRUE(decide(Mode::kElastic, {Mechanism::kCpus}).changes.empty());
  EXPECT_TRUE(decide(Mode::kPlace).changes.empty());
}

TEST_F(CpusTest, AJobOnThemEndsThereIfTheRestartDoesNotPay) {
  on_cpus(9'500);
  EXPECT_TRUE(decide(Mode::kElastic).changes.empty());
}

TEST_F(CpusTest, AJobOnThemStaysWithoutConsent) {
  on_cpus(0).hints->checkpoint = {};
  EXPECT_TRUE(decide(Mode::kElastic).changes.empty());
}

TEST_F(CpusTest, AJobOnThemRunsOnWhileOthersHoldTheGpus) {
  hold_gpu(1000);
  snapshot_.jobs.front().managed = false;
  on_cpus(0);
  EXPECT_TRUE(decide(Mode::kElastic).changes.empty());
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/job_annotation.h"

#include <gtest/gtest.h>

#include "lib/hints/task_variables.h"
#include "lib/json/task_env.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

ResolvedHints hints() {
  ResolvedHints hints;
  hints.job_type = "resnet50";
  hints.sizes = GpuSizes({{1, 8}});
  hints.work = Work{.unit = WorkUnit::kSamples, .count = 1000, .target_loss = 0};
  return hints;
}

Job running(const std::vector<GpuCount>& gpus) {
  Job job;
  job.key = {7, kNow - 100};
  job.state = JobState::kRunning;
  job.hints = hints();
  job.allocation = {{.node = 0, .cores = 4, .memory = 1, .gpus = gpus}};
  return job;
}

Progress progress(std::int64_t samples, double throughput) {
  Progress progress;
  progress.job = {7, kNow - 100};
  progress.samples = samples;
  progress.throughput = throughput;
  progress.batch = 10;
  return progress;
}

TEST(AnnotationOfJob, a_running_job_tells_what_it_holds_and_how_far_it_is) {
  const Progress report = progress(400, 7);
  EXPECT_EQ(render_annotation(annotation_of(running({{"a100", 4}}), nullptr, &report)),
            "{rubato job-type=resnet50 gpu-type=a100 gpus=4 sizes=1-8 rate=7 samples=400 "
            "remaining=86}");
}

TEST(AnnotationOfJob, without_a_report_nothing_is_said_of_progress) {
  EXPECT_EQ(render_annotation(annotation_of(running({{"a100", 4}}), nullptr, nullptr)),
            "{rubato job-type=resnet50 gpu-type=a100 gpus=4 sizes=1-8}");
}

TEST(AnnotationOfJob, the_level_is_told_of_jobs_that_have_one) {
  Service service;
  service.level = 2;
  EXPECT_EQ(render_annotation(annotation_of(running({{"a100", 4}}), nullptr, nullptr, &service)),
            "{rubato job-type=resnet50 level=2 gpu-type=a100 gpus=4 sizes=1-8 class=U}");
}

TEST(AnnotationOfJob, remaining_is_told_only_where_the_work_is_known) {
  const Progress report = progress(400, 7);
  Job job = running({{"a100", 4}});
  job.hints->work.reset();
  EXPECT_EQ(annotation_of(job, nullptr, &report).remaining, -1);
  job.hints->work = Work{.unit = WorkUnit::kTargetLoss, .count = 0, .target_loss = 1};
  EXPECT_EQ(annotation_of(job, nullptr, &report).remaining, -1);
  job.hints->work = Work{.unit = WorkUnit::kSteps, .count = 47, .target_loss = 0};
  EXPECT_EQ(annotation_of(job, nullptr, &report).remaining, 10);  // 47 * 10 - 400 at 7 a second
  const Progress still = progress(400, 0);
  EXPECT_EQ(annotation_of(job, nullptr, &still).remaining, -1);
  const Progress done = progress(5000, 7);
  EXPECT_EQ(annotation_of(job, nullptr, &done).remaining, 0);
}

TEST(AnnotationOfJob, several_types_are_named_in_order) {
  EXPECT_EQ(held_gpus(running({{"a100", 2}, {"h100", 1}}).allocation),
            (HeldGpus{3, "a100+h100", {{"a100", 2}, {"h100", 1}}}));
  EXPECT_EQ(held_gpus({}), HeldGpus{});
}

TEST(AnnotationOfJob, a_pending_job_tells_why_it_waits_and_until_when) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& job = add_pending(snapshot, 2);
  Explanation told;
  told.job = job.key;
  told.verdict = Verdict::kReserve;
  told.gpu_type = "a100";
  told.start_earliest = kNow;
  EXPECT_EQ(annotation_of(job, &told, nullptr).start, 0) << "nothing is promised";
  told.start_latest = kNow + 50;
  EXPECT_EQ(render_annotation(annotation_of(job, &told, nullptr)),
            "{rubato gpu-type=a100 gpus=2 start=1800000050 wait=reserve}");
  job.block = Block::kLicense;
  EXPECT_EQ(annotation_of(job, &told, nullptr).wait, "license");
  EXPECT_EQ(render_annotation(annotation_of(job, nullptr, nullptr)),
            "{rubato gpus=2 wait=license}");
}

TEST(AnnotationOfJob, a_start_that_moves_a_little_is_the_same) {
  JobAnnotation shown;
  shown.start = 1000;
  JobAnnotation now = shown;
  now.start = 1059;
  EXPECT_FALSE(differs(shown, now));
  now.start = 1060;
  EXPECT_TRUE(differs(shown, now));
  now.start = 0;
  EXPECT_TRUE(differs(shown, now));
  now = shown;
  now.samples = 1;
  EXPECT_TRUE(differs(shown, now));
}

TEST(TaskEnv, tells_what_was_decided) {
  Job job = running({{"a100", 4}});
  job.hints->batch = Batch{256, 256};
  job.hints->plans = Plans{.automatic = false, .kinds = {PlanKind::kZero}};
  const TaskEnv wanted{{"RUBATO_JOB_TYPE", "resnet50"}, {"RUBATO_GPUS", "4"},
                       {"RUBATO_GPU_TYPE", "a100"},     {"RUBATO_BATCH", "256"},
                       {"RUBATO_PLAN", "zero"},         {"RUBATO_RESTART_REASON", "resize"},
                       {"RUBATO_RESIZE_COUNT", "3"}};
  const ChosenRun run{.restart_reason = RestartReason::kResize, .resizes = 3};
  EXPECT_EQ(task_env(job, held_gpus(job.allocation), run), wanted);
  for (const auto& [name, value] : wanted) EXPECT_TRUE(is_task_variable(name)) << name;
  EXPECT_FALSE(is_task_variable("RUBATO_REPORT_FILE"));
  EXPECT_FALSE(is_task_variable("SLURM_JOB_ID"));
  EXPECT_FALSE(is_task_variable(""));
}

TEST(TaskEnv, a_batch_is_split_by_the_speeds_of_the_types) {
  Job job = running({{"a100", 2}, {"h100", 2}});
  job.hints->batch = Batch{256, 256};
  const ChosenRun run{.speeds = {{"a100", 1}, {"h100", 3}}};
  const TaskEnv env = task_env(job, held_gpus(job.allocation), run);
  const std::pair<std::string, std::string> wanted{"RUBATO_BATCH_SHARES", "32,32,96,96"};
  EXPECT_NE(std::find(env.begin(), env.end(), wanted), env.end());
}

TEST(BatchShares, AddUpToTheBatchAndGiveTheRestToTheLargestRemainders) {
  using Shares = std::vector<std::int64_t>;
  const std::vector<GpuSpeed> speeds{{"a100", 1}, {"h100", 2}};
  EXPECT_EQ(batch_shares(10, {{"a100", 1}, {"h100", 1}}, speeds), (Shares{3, 7}));
  EXPECT_EQ(batch_shares(10, {{"h100", 1}, {"a100", 1}}, speeds), (Shares{7, 3}));
  EXPECT_EQ(batch_shares(11, {{"a100", 2}, {"h100", 2}}, speeds), (Shares{2, 2, 4, 3}));
  EXPECT_EQ(batch_shares(8, {{"a100", 3}}, speeds), (Shares{3, 3, 2}));
}

TEST(BatchShares, AreEmptyWhereASpeedIsMissingOrAGpuWouldGetNothing) {
  const std::vector<GpuSpeed> speeds{{"a100", 1}, {"h100", 100}};
  EXPECT_TRUE(batch_shares(64, {{"a100", 1}, {"v100", 1}}, speeds).empty());
  EXPECT_TRUE(batch_shares(40, {{"a100", 1}, {"h100", 1}}, speeds).empty());
  EXPECT_TRUE(batch_shares(0, {{"a100", 1}}, speeds).empty());
  EXPECT_TRUE(batch_shares(64, {{"a100", 1}}, {}).empty());
  EXPECT_TRUE(batch_shares(64, {}, speeds).empty());
}

TEST(TaskEnv, what_is_not_known_has_no_variable) {
  Job job = running({{"", 1}});
  job.hints.reset();
  const TaskEnv wanted{{"RUBATO_GPUS", "1"}, {"RUBATO_RESIZE_COUNT", "0"}};
  EXPECT_EQ(task_env(job, held_gpus(job.allocation)), wanted);
}

// What the script runs with by itself is the user's choice of the range.
TEST(TaskEnv, a_range_of_batches_is_no_batch_until_one_is_chosen) {
  Job job = running({{"a100", 1}});
  job.hints->batch = Batch{256, 1024};
  const auto batch = [&](std::int64_t chosen) {
    for (const auto& [name, value] : task_env(job, held_gpus(job.allocation), {.batch = chosen}))
      if (name == "RUBATO_BATCH") return value;
    return std::string("none");
  };
  EXPECT_EQ(batch(0), "none");
  EXPECT_EQ(batch(512), "512");
  job.hints->batch = Batch{256, 256};
  EXPECT_EQ(batch(0), "256");
}

TEST(TaskEnv, several_plans_are_no_plan) {
  Job job = running({{"a100", 1}});
  job.hints->plans = Plans{.automatic = true, .kinds = {}};
  EXPECT_EQ(plan_of(job), "");
  job.hints->plans = Plans{.automatic = false, .kinds = {PlanKind::kDp, PlanKind::kZero}};
  EXPECT_EQ(plan_of(job), "");
}

}  // namespace
}  // namespace rubato::test

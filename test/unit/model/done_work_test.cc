// SPDX-License-Identifier: GPL-2.0-or-later
// Steps, efficient samples and gradient noise from the reports of a job.
#include "lib/model/progress/done_work.h"

#include <gtest/gtest.h>
#include <cmath>

namespace rubato {
namespace {

const JobKey kJob{1, 10};
const ProfileName kVision{"lab", "vision"};

Progress report(std::int64_t samples, std::int64_t batch) {
  return {.job = kJob, .samples = samples, .throughput = 100, .batch = batch};
}

ReportedJob in_steps(std::int64_t steps) {
  return {.profile = kVision, .work = Work{WorkUnit::kSteps, steps, 0}};
}

TEST(DoneWork, AnotherBatchDoesNotChangeTheStepsThatWereDone) {
  const ReportedJob job = in_steps(3000);
  const Progress before = counted(report(256'000, 256), nullptr, job);
  EXPECT_DOUBLE_EQ(steps_done(before), 1000);
  EXPECT_DOUBLE_EQ(*work_left(*job.work, before), 2000.0 * 256);
  const Progress after = counted(report(256'000, 512), &before, job);
  EXPECT_DOUBLE_EQ(steps_done(after), 1000) << "1000 steps at 256 stay 1000 steps";
  EXPECT_DOUBLE_EQ(*work_left(*job.work, after), 2000.0 * 512);
  const Progress later = counted(report(256'000 + 51'200, 512), &after, job);
  EXPECT_DOUBLE_EQ(steps_done(later), 1100);
  EXPECT_DOUBLE_EQ(*work_left(*job.work, later), 1900.0 * 512);
}

TEST(DoneWork, AnOldCheckpointUndoesAPart) {
  const ReportedJob job = in_steps(3000);
  const Progress before = counted(report(256'000, 256), nullptr, job);
  const Progress back = counted(report(128'000, 512), &before, job);
  EXPECT_DOUBLE_EQ(steps_done(back), 500);
}

TEST(DoneWork, EfficientSamplesAreThoseOfTheSmallestBatch) {
  const ReportedJob job{.profile = kVision, .batch = Batch{100, 1000}};
  Progress first = report(10'000, 100);
  first.noise = 800;
  first = counted(first, nullptr, job);
  EXPECT_DOUBLE_EQ(first.efficiency, 1);
  EXPECT_DOUBLE_EQ(first.done(), 10'000);
  Progress second = report(20'000, 1000);
  second.noise = 800;
  second = counted(second, &first, job);
  EXPECT_DOUBLE_EQ(second.efficiency, 0.5);  // (800 + 100) / (800 + 1000)
  EXPECT_DOUBLE_EQ(second.done(), 15'000) << "the first 10,000 count as before";
  EXPECT_DOUBLE_EQ(second.goodput(), 50);
  EXPECT_DOUBLE_EQ(*work_left({WorkUnit::kSamples, 25'000, 0}, second), 10'000);
}

TEST(DoneWork, WithoutNoiseOrRangeAllSamplesCount) {
  Progress noisy = report(10'000, 100);
  noisy.noise = 1;
  EXPECT_DOUBLE_EQ(counted(noisy, nullptr, {.batch = Batch{100, 100}}).done(), 10'000);
  EXPECT_DOUBLE_EQ(counted(noisy, nullptr, {}).done(), 10'000);
  EXPECT_DOUBLE_EQ(counted(report(10'000, 1000), nullptr, {.batch = Batch{100, 1000}}).done(),
                   10'000);
}

TEST(ProfileNoise, IsThatAfterAsMuchWork) {
  std::vector<ProfileNoise> profiles;
  EXPECT_FALSE(noise_at(profiles, kVision, 0));
  fold_noise(kVision, 1000, 10, 5, profiles);
  fold_noise(kVision, 1000, 20, 6, profiles);
  fold_noise(kVision, 1'000'000, 1015, 7, profiles);
  EXPECT_DOUBLE_EQ(*noise_at(profiles, kVision, 0), 15) << "a job that begins";
  EXPECT_DOUBLE_EQ(*noise_at(profiles, kVision, 1e12), 1015);
  const double between = *noise_at(profiles, kVision, 30'000);
  EXPECT_GT(between, 300);
  EXPECT_LT(between, 700);
  EXPECT_FALSE(noise_at(profiles, {"other", "vision"}, 0));
  fold_noise({"lab", ""}, 0, 1, 8, profiles);
  EXPECT_EQ(profiles.size(), 1U) << "a job without a type has no profile";
}

TEST(LastingNoise, GivesEachBatchTheTimeOfTheWorkUnderTheNoiseOnTheWay) {
  std::vector<ProfileNoise> profiles;
  for (int doublings = 0; doublings <= 20; ++doublings)
    fold_noise(kVision, std::exp2(doublings), 10 * std::exp2(doublings / 2.0), 5, profiles);
  const WorkSpan span{.done = 2000, .left = 500'000, .reference = 64};
  for (const double scale : {1.0, 3.0}) {
    const double present = scale * *noise_at(profiles, kVision, span.done);
    const double lasting = *lasting_noise(profiles, kVision, span, present);
    EXPECT_GT(lasting, 2 * present) << "noise grows";
    for (const double batch : {64.0, 256.0, 4096.0, 1e6}) {
      double time = 0;  // of one sample after the other, in samples of the reference batch
      constexpr int kSteps = 20'000;
      for (int i = 0; i < kSteps; ++i) {
        const double noise =
            scale * *noise_at(profiles, kVision, span.done + span.left * (i + 0.5) / kSteps);
        time += (noise + batch) / (noise + span.reference) / kSteps;
      }
      const double one = (lasting + batch) / (lasting + span.reference);
      EXPECT_NEAR(one / time, 1, 0.01) << batch;
    }
  }
}

TEST(LastingNoise, IsThePresentNoiseWhereNoMoreIsKnown) {
  std::vector<ProfileNoise> profiles;
  const WorkSpan span{.done = 100, .left = 1000, .reference = 8};
  EXPECT_FALSE(lasting_noise(profiles, kVision, span, {}));
  EXPECT_DOUBLE_EQ(*lasting_noise(profiles, kVision, span, 50.0), 50);
  fold_noise(kVision, 100, 20, 5, profiles);
  EXPECT_NEAR(*lasting_noise(profiles, kVision, span, {}), 20, 1e-9);
  EXPECT_NEAR(*lasting_noise(profiles, kVision, span, 60.0), 60, 1e-9);
  EXPECT_DOUBLE_EQ(*lasting_noise(profiles, kVision, {.done = 100, .left = 0}, 60.0), 60);
}

TEST(ProfileNoise, IsKeptForALimitedNumberOfProfiles) {
  std::vector<ProfileNoise> profiles;
  for (std::size_t i = 0; i < kMaxNoiseProfiles + 3; ++i)
    fold_noise({"lab", "t" + std::to_string(i)}, 0, 1, static_cast<Seconds>(i), profiles);
  EXPECT_EQ(profiles.size(), kMaxNoiseProfiles);
  EXPECT_FALSE(noise_at(profiles, {"lab", "t0"}, 0)) << "the oldest went";
}

}  // namespace
}  // namespace rubato

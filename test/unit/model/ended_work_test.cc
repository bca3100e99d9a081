// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/ended_work.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

const ProfileName kNet{"lab", "net"};

std::vector<ProfileWork> ended(std::initializer_list<double> works) {
  std::vector<ProfileWork> profiles;
  Seconds now = 100;
  for (const double work : works) fold_ended_work(kNet, work, now++, profiles);
  return profiles;
}

TEST(EndedWork, BeforeAStartTheMedianIsExpected) {
  EXPECT_DOUBLE_EQ(*usual_work_left(ended({50, 10, 20, 40, 30}), kNet, 0), 30);
}

TEST(EndedWork, LaterTheMeanRestOfThoseThatDidMore) {
  const auto profiles = ended({50, 10, 20, 40, 30});
  EXPECT_DOUBLE_EQ(*usual_work_left(profiles, kNet, 20), (30 + 20 + 10) / 3.0);
  EXPECT_DOUBLE_EQ(*usual_work_left(profiles, kNet, 45), 5);
  EXPECT_FALSE(usual_work_left(profiles, kNet, 50)) << "none did more";
}

TEST(EndedWork, AFewJobsSayNothing) {
  EXPECT_FALSE(usual_work_left(ended({50, 10, 20, 40}), kNet, 0));
  EXPECT_FALSE(usual_work_left(ended({50, 10, 20, 40, 30}), {"lab", "other"}, 0));
  EXPECT_FALSE(usual_work_left(ended({50, 10, 20, 40, 30}), {"", "net"}, 0));
}

TEST(EndedWork, JobsOfVeryDifferentWorkSayNothing) {
  EXPECT_TRUE(usual_work_left(ended({10, 20, 30, 40, 50}), kNet, 5));
  EXPECT_FALSE(usual_work_left(ended({1, 10, 100, 1000, 10'000}), kNet, 0));
  EXPECT_FALSE(usual_work_left(ended({1, 10, 100, 1000, 10'000}), kNet, 5));
}

TEST(EndedWork, OldJobsAndProfilesAreForgotten) {
  std::vector<ProfileWork> profiles;
  for (std::size_t i = 0; i < 2 * kMaxEndedJobs; ++i)
    fold_ended_work(kNet, static_cast<double>(i + 1), 100, profiles);
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(profiles[0].ended.size(), kMaxEndedJobs);
  EXPECT_DOUBLE_EQ(profiles[0].ended.front().samples, kMaxEndedJobs + 1.0);
  for (std::size_t i = 0; i < kMaxWorkProfiles; ++i)
    fold_ended_work({"lab", "t" + std::to_string(i)}, 1, 200, profiles);
  EXPECT_EQ(profiles.size(), kMaxWorkProfiles);
  EXPECT_FALSE(usual_work_left(profiles, kNet, 0)) << "the oldest";
}

TEST(EndedWork, JobsWithoutATypeOrWorkAreLeftOut) {
  std::vector<ProfileWork> profiles;
  fold_ended_work({"lab", ""}, 10, 100, profiles);
  fold_ended_work(kNet, 0, 100, profiles);
  EXPECT_TRUE(profiles.empty());
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: which waiting jobs try a GPU type.
#include "lib/policy/algorithms/trials.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

const ProfileName kVision{"", "vision"};
const ProfileName kSpeech{"", "speech"};
constexpr double kUnknown = .8;  // standard deviation where nothing was measured

class TrialsTest : public ::testing::Test {
 protected:
  TrialsTest() {
    for (int i = 0; i < 2; ++i) {
      Job& job = add_pending(snapshot_, 1);
      job.hints.emplace().job_type = "vision";
    }
  }
  [[nodiscard]] Trials trials() const {
    return Trials(RoundInput{snapshot_, models_, config_, kNow});
  }
  [[nodiscard]] const Job& job(std::size_t at) const { return snapshot_.jobs[at]; }

  Snapshot snapshot_ = make_cluster({{"a100", 4}, {"h100", 4}});
  Models models_;
  Config config_;
};

TEST_F(TrialsTest, OneJobAtATimeTriesAType) {
  Trials tried = trials();
  EXPECT_DOUBLE_EQ(tried.part(job(0), kVision, "h100", kUnknown), std::exp(-kUnknown));
  EXPECT_EQ(tried.part(job(1), kVision, "h100", kUnknown), 1) << "the first one tries it";
  EXPECT_LT(tried.part(job(0), kVision, "h100", 1), 1) << "at other sizes too";
  EXPECT_LT(tried.part(job(1), kVision, "a100", kUnknown), 1) << "another type";
  EXPECT_LT(tried.part(job(1), kSpeech, "h100", kUnknown), 1) << "another profile";
}

TEST_F(TrialsTest, WhatIsMeasuredIsNotTried) {
  Trials tried = trials();
  EXPECT_EQ(tried.part(job(0), kVision, "h100", kUnmeasured / 2), 1);
  EXPECT_LT(tried.part(job(1), kVision, "h100", kUnknown), 1) << "no job tried it yet";
}

TEST_F(TrialsTest, NoneWhileAJobOfTheProfileRunsThere) {
  Job& runs = add_running(snapshot_, {share_of(snapshot_, 0, 1)}, kNow + 600);
  runs.hints.emplace().job_type = "vision";
  Trials tried = trials();
  EXPECT_EQ(tried.part(job(0), kVision, "a100", kUnknown), 1);
  EXPECT_LT(tried.part(job(0), kVision, "h100", kUnknown), 1);
}

TEST_F(TrialsTest, JobsWithoutHintsTryNothing) {
  Job& plain = add_pending(snapshot_, 1);
  plain.hints.reset();
  Trials tried = trials();
  EXPECT_EQ(tried.part(plain, kVision, "h100", kUnknown), 1);
  EXPECT_EQ(tried.part(job(0), ProfileName{}, "h100", kUnknown), 1) << "without a job type";
  config_.test_off.insert(Mechanism::kTrials);
  EXPECT_EQ(trials().part(job(0), kVision, "h100", kUnknown), 1);
}

}  // namespace
}  // namespace rubato

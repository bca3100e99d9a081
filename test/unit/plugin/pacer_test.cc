// SPDX-License-Identifier: GPL-2.0-or-later
// The waits of the loop, with a clock that the test sets.
#include "plugin/sched/pacer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "test/support/fake_clock.h"
#include "test/support/fake_core.h"

namespace rubato {
namespace {

using namespace std::chrono_literals;

class PacerTest : public ::testing::Test {
 protected:
  /// Advances the clock until the wait is over.
  WakeReason wait(double round_interval, bool soon = false) {
    auto reason = std::async(std::launch::async, [&] { return pacer_.wait(round_interval, soon); });
    while (reason.wait_for(1ms) != std::future_status::ready) clock_->advance(10ms);
    return reason.get();
  }

  std::shared_ptr<test::FakeClock> clock_ = std::make_shared<test::FakeClock>();
  Pacer pacer_{clock_};
};

TEST_F(PacerTest, TicksAtOnceAndThenAfterEachInterval) {
  const SteadyTime begin = clock_->steady();
  EXPECT_EQ(pacer_.wait(0.3), WakeReason::kTick);
  EXPECT_EQ(clock_->steady(), begin);
  EXPECT_EQ(wait(0.3), WakeReason::kTick);
  EXPECT_GE(clock_->steady(), begin + 300ms);
}

TEST_F(PacerTest, ReturnsForTheHeartbeatBeforeALongIntervalIsOver) {
  ASSERT_EQ(pacer_.wait(60), WakeReason::kTick);
  const SteadyTime begin = clock_->steady();
  EXPECT_EQ(wait(60), WakeReason::kNothing);
  EXPECT_GE(clock_->steady(), begin + 500ms);
}

TEST_F(PacerTest, LooksSoonWhereAskedTo) {
  ASSERT_EQ(pacer_.wait(60), WakeReason::kTick);
  const SteadyTime begin = clock_->steady();
  EXPECT_EQ(wait(60, true), WakeReason::kNothing);
  EXPECT_GE(clock_->steady(), begin + 20ms);
  EXPECT_LT(clock_->steady(), begin + 500ms);
}

TEST_F(PacerTest, GathersABurstOfEvents) {
  ASSERT_EQ(pacer_.wait(60), WakeReason::kTick);
  const SteadyTime event = clock_->steady();
  pacer_.wake();
  clock_->advance(2ms);
  pacer_.wake();
  EXPECT_EQ(wait(60), WakeReason::kEvent);
  EXPECT_EQ(pacer_.event(), event);
  EXPECT_GE(clock_->steady(), event + Pace::kGather);
}

TEST_F(PacerTest, PeeksAtGrowingDistancesWhileNodesComplete) {
  ASSERT_EQ(pacer_.wait(60), WakeReason::kTick);
  pacer_.wake();
  ASSERT_EQ(wait(60), WakeReason::kEvent);
  pacer_.round_ended(true);
  EXPECT_EQ(pacer_.wait(60), WakeReason::kPeek)
      << "the wait for the event was as long as the first";
  for (int i = 0; i < 10; ++i) pacer_.peek_later();
  const SteadyTime begin = clock_->steady();
  EXPECT_EQ(wait(60), WakeReason::kPeek);
  EXPECT_GE(clock_->steady(), begin + 100ms);
  pacer_.round_ended(false);
  EXPECT_EQ(wait(60), WakeReason::kNothing);
}

TEST_F(PacerTest, EndsItsSleepWhenTheLoopStops) {
  pacer_.stop();
  pacer_.sleep(3600);
  EXPECT_TRUE(pacer_.stopping());
}

TEST_F(PacerTest, DoesNotWaitLongForRequestsThatNeverEnd) {
  test::core().quiet = false;
  auto quiet = std::async(std::launch::async, [&] { pacer_.wait_for_quiet(10ms); });
  while (quiet.wait_for(1ms) != std::future_status::ready) clock_->advance(1ms);
  test::core().quiet = true;
}

}  // namespace
}  // namespace rubato

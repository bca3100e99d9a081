// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/pace.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

using namespace std::chrono_literals;

constexpr Pace::Clock::time_point kEnd{100s};

TEST(Pace, ALoneEventWaitsOnlyForItsCompanions) {
  Pace pace;
  EXPECT_EQ(pace.earliest(kEnd), kEnd + 5ms);
  pace.ended(kEnd, 2ms, 2ms);
  EXPECT_EQ(pace.earliest(kEnd + 1s), kEnd + 1s + 5ms);
}

TEST(Pace, AStreamOfEventsLeavesNineTenthsOfTheTimeToOthers) {
  Pace pace;
  pace.ended(kEnd, 1ms, 1ms);
  EXPECT_EQ(pace.earliest(kEnd), kEnd + 9ms);
}

TEST(Pace, AnEventWaitsTwentyMillisecondsForOthersAtMost) {
  Pace pace;
  pace.ended(kEnd, 10ms, 10ms);
  EXPECT_EQ(pace.earliest(kEnd), kEnd + 20ms);
  EXPECT_EQ(pace.earliest(kEnd - 10ms), kEnd + 10ms);
}

TEST(Pace, TheLoopRunsHalfOfTheTimeAtMost) {
  Pace pace;
  pace.ended(kEnd, 1ms, 300ms);
  EXPECT_EQ(pace.earliest(kEnd), kEnd + 300ms);
  EXPECT_EQ(pace.earliest(kEnd - 1s), kEnd + 300ms);
  EXPECT_EQ(pace.earliest(kEnd + 1s), kEnd + 1s + 5ms);
  EXPECT_EQ(pace.earliest(), kEnd + 300ms);
}

TEST(Pace, TheLocksAreNeverHeldMoreThanHalfOfTheTime) {
  Pace pace;
  pace.ended(kEnd, 100ms, 100ms);
  EXPECT_EQ(pace.earliest(kEnd), kEnd + 100ms);
  EXPECT_EQ(pace.earliest(kEnd - 1s), kEnd + 100ms);
}

}  // namespace
}  // namespace rubato

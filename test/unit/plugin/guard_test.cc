// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/guard.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "test/support/fake_slurm_log.h"

namespace rubato {
namespace {

TEST(Guard, PassesAResultThrough) {
  EntryPoint entry{"entry"};
  EXPECT_EQ(guard(
                entry, [] { return 3; }, [] { return 4; }),
            3);
  EXPECT_EQ(entry.failures, 0U);
}

TEST(Guard, DoesWhatStockSlurmWouldWhenTheBodyThrows) {
  EntryPoint entry{"some_entry"};
  const unsigned long before = guard_failures();
  test::clear_log();
  EXPECT_EQ(guard(
                entry, []() -> int { throw std::runtime_error("broken"); }, [] { return 4; }),
            4);
  EXPECT_EQ(guard(
                entry, []() -> int { throw 1; }, [] { return 5; }),
            5);
  EXPECT_EQ(entry.failures, 2U);
  EXPECT_EQ(guard_failures(), before + 2);
  ASSERT_EQ(test::logged().size(), 2U);
  EXPECT_EQ(test::logged()[0],
            "rubato: some_entry failed (1 times): broken; stock Slurm decides here");
}

TEST(Guard, LogsOnlyPowersOfTwo) {
  EntryPoint entry{"noisy"};
  test::clear_log();
  for (int i = 0; i < 1000; ++i)
    guard(
        entry, [] { throw std::runtime_error("again"); }, [] {});
  EXPECT_EQ(test::logged().size(), 10U);  // 1, 2, 4 ... 512
}

}  // namespace
}  // namespace rubato

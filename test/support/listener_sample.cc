// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that pass, fail and skip intentionally: report_test.py runs them and reads the reports.
#include <gtest/gtest.h>

TEST(Sample, Passes) { EXPECT_EQ(1 + 1, 2); }

TEST(Sample, FailsTwice) {
  EXPECT_EQ(1 + 1, 3) << "text with <markup> & a control character \x01";
  EXPECT_TRUE(false);
}

TEST(Sample, Skips) { GTEST_SKIP() << "no cheese"; }

class BrokenSuite : public testing::Test {
 protected:
  static void TearDownTestSuite() { FAIL() << "cannot clear the table"; }
};

TEST_F(BrokenSuite, Passes) { SUCCEED(); }

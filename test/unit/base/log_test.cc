// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/log.h"

#include <gtest/gtest.h>

#include "test/support/fake_clock.h"
#include "test/support/fake_slurm_log.h"

namespace rubato {
namespace {

class LoggerTest : public ::testing::Test {
 protected:
  LoggerTest() { test::clear_log(); }

  std::shared_ptr<test::FakeClock> clock_ = std::make_shared<test::FakeClock>();
  spdlog::logger logger_{"test", std::make_shared<DaemonSink>(clock_)};
};

TEST_F(LoggerTest, PutsTheNameInFront) {
  logger_.info("started JobId={}", 7);
  ASSERT_EQ(test::logged().size(), 1U);
  EXPECT_EQ(test::logged()[0], "rubato: started JobId=7");
}

TEST_F(LoggerTest, HoldsBackWhatComesTooFastAndTellsHowMuch) {
  for (int i = 0; i < 1000; ++i) logger_.error("again");
  EXPECT_EQ(test::logged().size(), static_cast<std::size_t>(DaemonSink::kBurst));
  clock_->advance(std::chrono::seconds(1));
  logger_.error("later");
  const auto lines = test::logged();
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(DaemonSink::kBurst) + 2);
  EXPECT_EQ(lines[lines.size() - 2], "rubato: 600 lines were suppressed");
  EXPECT_EQ(lines.back(), "rubato: later");
}

TEST_F(LoggerTest, LetsASteadyRateThrough) {
  for (int i = 0; i < 1000; ++i) {
    clock_->advance(std::chrono::milliseconds(10));
    logger_.info("line");
  }
  EXPECT_EQ(test::logged().size(), 1000U);
}

TEST(Logger, TakesTheLevelOfTheConfiguration) {
  test::clear_log();
  set_log_level("error");
  log().info("not told");
  set_log_level("info");
  log().info("told");
  EXPECT_EQ(test::logged(), std::vector<std::string>{"rubato: told"});
}

}  // namespace
}  // namespace rubato

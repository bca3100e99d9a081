// SPDX-License-Identifier: GPL-2.0-or-later
// When the files of rounds are written.
#include "plugin/sched/state_publisher.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "test/support/fake_clock.h"

namespace rubato {
namespace {

using namespace std::chrono_literals;

TEST(WriteInterval, LargeFilesTakeATwentiethOfACore) {
  EXPECT_DOUBLE_EQ(write_interval(1, 0), 1) << "PublishInterval";
  EXPECT_DOUBLE_EQ(write_interval(1, 0.05), 1);
  EXPECT_DOUBLE_EQ(write_interval(1, 0.5), 10);
  EXPECT_DOUBLE_EQ(write_interval(2, 0.5), 10);
}

class StatePublisherTest : public testing::Test {
 protected:
  StatePublisherTest() {
    std::string name = testing::TempDir() + "/publishXXXXXX";
    folder_ = mkdtemp(name.data());
    clock_ = std::make_shared<test::FakeClock>();
    recorder_ = std::make_unique<Recorder>(folder_, clock_);
    publisher_ = std::make_unique<StatePublisher>(folder_, clock_);
    config_.publish_interval = 2;
    publisher_->try_open();
  }
  ~StatePublisherTest() override {
    publisher_->stop();
    publisher_->close();
    std::filesystem::remove_all(folder_);
  }

  void round() {
    publisher_->set_round({.snapshot = std::make_shared<const Snapshot>(),
                           .plan = std::make_shared<const Plan>(),
                           .models = std::make_shared<const Models>()},
                          true);
  }
  /// How often stats.json has been made after this call.
  int publish(bool last = false) {
    publisher_->publish(last, config_, *recorder_, [&](bool breakdown) {
      made_ += breakdown ? 1 : 0;
      return std::string("{}\n");
    });
    return made_;
  }

  std::string folder_;
  std::shared_ptr<test::FakeClock> clock_;
  Config config_;
  std::unique_ptr<Recorder> recorder_;
  std::unique_ptr<StatePublisher> publisher_;
  int made_ = 0;
};

TEST_F(StatePublisherTest, NothingIsPublishedBeforeTheFirstRound) { EXPECT_EQ(publish(true), 0); }

TEST_F(StatePublisherTest, ALoopWithoutRoundsPublishesStatsAloneOnceInAnInterval) {
  int made = 0;
  const auto stats = [&](bool) {
    ++made;
    return std::string("{}\n");
  };
  publisher_->publish_stats(config_, stats);
  publisher_->publish_stats(config_, stats);
  EXPECT_EQ(made, 1);
  clock_->advance(2s);
  publisher_->publish_stats(config_, stats);
  EXPECT_EQ(made, 2);
  publisher_->close();
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/publish/stats.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/report.json")) << "a kept report stays";
}

TEST_F(StatePublisherTest, PublishesOnceInAnInterval) {
  round();
  EXPECT_TRUE(publisher_->unpublished());
  EXPECT_EQ(publish(), 1);
  EXPECT_FALSE(publisher_->unpublished());
  round();
  clock_->advance(1999ms);
  EXPECT_EQ(publish(), 1);
  EXPECT_TRUE(publisher_->unpublished()) << "the loop offers it later";
  clock_->advance(1ms);
  EXPECT_EQ(publish(), 2);
  EXPECT_FALSE(publisher_->unpublished());
}

TEST_F(StatePublisherTest, TheLastRoundAndAChangeOfPrivateDataDoNotWait) {
  round();
  EXPECT_EQ(publish(), 1);
  publisher_->set_private_data({});
  EXPECT_FALSE(publisher_->private_data_changed());
  publisher_->set_private_data({.jobs = true});
  EXPECT_TRUE(publisher_->private_data_changed());
  EXPECT_EQ(publish(), 2);
  EXPECT_FALSE(publisher_->private_data_changed());
  EXPECT_EQ(publish(), 2);
  EXPECT_EQ(publish(true), 3);
}

TEST_F(StatePublisherTest, ATestCanSwitchItOff) {
  config_.test_off.insert(Mechanism::kPublish);
  round();
  EXPECT_EQ(publish(true), 0);
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The worker with an inbox for the latest number. No test sleeps: each waits for an event.
#include "lib/base/background_worker.h"

#include <gtest/gtest.h>

#include <deque>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "test/support/fake_clock.h"

namespace rubato {
namespace {

using namespace std::chrono_literals;

template <bool kDrainAtStop>
class LatestNumber {
 public:
  using Offer = int;
  static constexpr bool kDrain = kDrainAtStop;
  struct Outcome {
    int number = 0;
    SteadyTime not_before{};
  };

  void put(int number) {
    next_ = number;
    ++offered_;
  }
  [[nodiscard]] std::optional<SteadyTime> due() const {
    return next_ ? std::optional(not_before_) : std::nullopt;
  }
  [[nodiscard]] int take() {
    taken_ = offered_;
    return *std::exchange(next_, std::nullopt);
  }
  void finish(Outcome outcome) {
    not_before_ = outcome.not_before;
    finished_ = taken_;
  }
  [[nodiscard]] int offered() const { return offered_; }
  [[nodiscard]] int finished() const { return finished_; }

 private:
  std::optional<int> next_;
  int offered_ = 0;
  int taken_ = 0;
  int finished_ = 0;
  SteadyTime not_before_{};
};

/// State shared by a test and the task. It outlives both.
struct Script {
  std::promise<void> entered;  ///< the task has started its first work
  std::promise<void> release;  ///< lets that work end
  bool blocks_first = false;
  SteadyTime not_before{};  ///< set after each work
  int throws_at = -1;
  std::vector<int> worked;
  std::vector<std::string> failures;
};

template <bool kDrainAtStop>
class RecordNumbers {
 public:
  using Inbox = LatestNumber<kDrainAtStop>;
  using Outcome = typename Inbox::Outcome;

  explicit RecordNumbers(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  Outcome work(int number) {
    script_->worked.push_back(number);
    if (script_->blocks_first && script_->worked.size() == 1) {
      script_->entered.set_value();
      script_->release.get_future().wait();
    }
    if (number == script_->throws_at) throw std::runtime_error("no");
    return {number, script_->not_before};
  }
  Outcome failed(const char* what) {
    script_->failures.emplace_back(what);
    return {};
  }

 private:
  std::shared_ptr<Script> script_;
};

class BackgroundWorkerTest : public ::testing::Test {
 protected:
  template <bool kDrainAtStop = false>
  auto make() {
    return std::make_unique<BackgroundWorker<RecordNumbers<kDrainAtStop>>>(
        ThreadOptions{.name = "worker_test"}, clock_,
        std::make_unique<RecordNumbers<kDrainAtStop>>(script_));
  }

  /// A deadline that the clock reaches only if a test advances it.
  [[nodiscard]] SteadyTime later() const { return clock_->steady() + 1h; }

  template <typename Worker>
  bool wait_finished(Worker& worker) {
    return worker.wait_done(
        later(), [](const auto& inbox) { return inbox.offered(); },
        [](const auto& inbox, int mark) { return inbox.finished() >= mark; });
  }

  std::shared_ptr<test::FakeClock> clock_ = std::make_shared<test::FakeClock>();
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
};

TEST_F(BackgroundWorkerTest, WorksOnAnOffer) {
  auto worker = make();
  worker->offer(7);
  ASSERT_TRUE(wait_finished(*worker));
  worker->stop();
  ASSERT_TRUE(worker->wait(later()));
  EXPECT_EQ(script_->worked, std::vector<int>{7});
  EXPECT_EQ(worker->failures(), 0U);
}

TEST_F(BackgroundWorkerTest, WorksOnTheLatestOfferWhenSeveralCameMeanwhile) {
  script_->blocks_first = true;
  auto worker = make();
  worker->offer(1);
  script_->entered.get_future().wait();
  worker->offer(2);
  worker->offer(3);
  script_->release.set_value();
  ASSERT_TRUE(wait_finished(*worker));
  worker->stop();
  ASSERT_TRUE(worker->wait(later()));
  EXPECT_EQ(script_->worked, (std::vector<int>{1, 3}));
}

TEST_F(BackgroundWorkerTest, WaitsUntilTheOfferIsDue) {
  script_->not_before = clock_->steady() + 10s;
  auto worker = make();
  worker->offer(1);
  ASSERT_TRUE(wait_finished(*worker));
  worker->offer(2);
  clock_->advance(9s);
  EXPECT_EQ(script_->worked, std::vector<int>{1});
  clock_->advance(1s);
  ASSERT_TRUE(wait_finished(*worker));
  worker->stop();
  ASSERT_TRUE(worker->wait(later()));
  EXPECT_EQ(script_->worked, (std::vector<int>{1, 2}));
}

TEST_F(BackgroundWorkerTest, CountsAnErrorAndGoesOn) {
  script_->throws_at = 1;
  auto worker = make();
  worker->offer(1);
  ASSERT_TRUE(wait_finished(*worker));
  worker->offer(2);
  ASSERT_TRUE(wait_finished(*worker));
  worker->stop();
  ASSERT_TRUE(worker->wait(later()));
  EXPECT_EQ(worker->failures(), 1U);
  EXPECT_EQ(script_->failures, std::vector<std::string>{"no"});
  EXPECT_EQ(script_->worked, (std::vector<int>{1, 2}));
}

TEST_F(BackgroundWorkerTest, DropsTheLastOfferAtStop) {
  script_->blocks_first = true;
  auto worker = make<false>();
  worker->offer(1);
  script_->entered.get_future().wait();
  worker->offer(2);
  worker->stop();
  script_->release.set_value();
  ASSERT_TRUE(worker->wait(later()));
  EXPECT_EQ(script_->worked, std::vector<int>{1});
}

TEST_F(BackgroundWorkerTest, FinishesTheLastOfferAtStopWhenItDrains) {
  script_->blocks_first = true;
  auto worker = make<true>();
  worker->offer(1);
  script_->entered.get_future().wait();
  worker->offer(2);
  worker->stop();
  script_->release.set_value();
  ASSERT_TRUE(worker->wait(later()));
  EXPECT_EQ(script_->worked, (std::vector<int>{1, 2}));
}

TEST_F(BackgroundWorkerTest, LeavesAThreadBehindThatHangs) {
  script_->blocks_first = true;
  auto worker = make();
  worker->offer(1);
  script_->entered.get_future().wait();
  worker->stop();
  EXPECT_FALSE(worker->wait(clock_->steady())) << "the deadline has passed";
  worker.reset();
  script_->release.set_value();
}

}  // namespace
}  // namespace rubato

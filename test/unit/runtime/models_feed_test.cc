// SPDX-License-Identifier: GPL-2.0-or-later
// From reports and a database to the models of a round. Times here only limit how long a test waits
// for an event.
#include "lib/runtime/models_feed.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "lib/store/folder.h"
#include "lib/store/store.h"
#include "test/support/fake_slurm_log.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr Seconds kBegin = 1'800'000'000;

store::Sample sample(const std::string& gpu_type, double throughput, int index = 0, JobId job = 1) {
  store::Sample made;
  made.job = {job, kBegin};
  made.run_start = kBegin;
  made.time = kBegin + 60 * (index + 1);
  made.type = {"research", "resnet50", false};
  made.gpu_type = gpu_type;
  made.gpus = 2;
  made.nodes = 1;
  made.batch = 64;
  made.samples_done = static_cast<std::int64_t>(throughput * 60 * (index + 1));
  made.throughput = throughput;
  return made;
}

class ModelsFeedTest : public ::testing::Test {
 protected:
  ModelsFeedTest() {
    std::string name = ::testing::TempDir() + "/feedXXXXXX";
    folder_ = mkdtemp(name.data());
    feed_ = std::make_unique<ModelsFeed>(std::make_shared<SystemClock>(), [this] { ++woken_; });
  }
  ~ModelsFeedTest() override {
    feed_->stop();
    EXPECT_TRUE(feed_->wait(Steady::now() + 60s));
    feed_.reset();
    fs::remove_all(folder_);
  }

  static FeedOffer offer_of(std::vector<PendingSample> heard = {}) {
    FeedOffer offer;
    offer.speeds = {{"a100", 3.0}, {"v100", 1.0}};
    offer.heard = std::move(heard);
    return offer;
  }

  static bool until(const std::function<bool()>& what) {
    for (int i = 0; i < 6000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  }

  [[nodiscard]] std::vector<ThroughputObservation> observations() const {
    const auto models = feed_->latest();
    if (models == nullptr || models->throughput_model() == nullptr) return {};
    return models->throughput_model()->observations();
  }

  [[nodiscard]] std::string database() const {
    return (folder_ / "rubato" / store::kDatabaseName).string();
  }

  // Writes and closes a store with these samples.
  void write_store(const std::vector<store::Sample>& samples) const {
    store::StoreOptions options;
    options.folder = (folder_ / "rubato").string();
    store::Store store(options, std::make_shared<SystemClock>());
    for (const store::Sample& one : samples) ASSERT_TRUE(store.push(one));
    ASSERT_TRUE(store.flush(60s));
    ASSERT_TRUE(store.stop(60s));
  }

  fs::path folder_;
  std::atomic<int> woken_{0};
  std::unique_ptr<ModelsFeed> feed_;
};

TEST_F(ModelsFeedTest, without_reports_the_configured_speeds_stand) {
  EXPECT_EQ(feed_->latest(), nullptr);
  feed_->offer(offer_of());
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  ASSERT_NE(feed_->latest(), nullptr);
  EXPECT_EQ(feed_->latest()->throughput_model(), nullptr);
  EXPECT_EQ(feed_->latest()->speed("a100"), 3.0);
}

TEST_F(ModelsFeedTest, a_report_of_a_new_place_comes_promptly_and_wakes) {
  feed_->offer(offer_of());
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  const int before = woken_;
  feed_->offer(offer_of({{sample("v100", 50), 0}}));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  ASSERT_EQ(observations().size(), 1U);
  EXPECT_EQ(observations()[0].gpu_type, "v100");
  EXPECT_EQ(woken_, before + 1);
}

TEST_F(ModelsFeedTest, the_store_is_read_at_the_first_offer) {
  write_store({sample("a100", 20), sample("v100", 90, 0, 2), sample("v100", 90, 0, 3)});
  FeedOffer offer = offer_of();
  offer.database = database();
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  ASSERT_EQ(observations().size(), 2U);
  EXPECT_EQ(observations()[0].gpu_type, "a100");
  EXPECT_DOUBLE_EQ(observations()[0].throughput, 20);
  EXPECT_DOUBLE_EQ(observations()[1].throughput, 90);
}

TEST_F(ModelsFeedTest, learnt_rates_overrule_the_configured_order) {
  // Two jobs measured it: what one alone claims is bounded (bound_unproven()).
  feed_->offer(offer_of(
      {{sample("a100", 20), 0}, {sample("v100", 90, 0, 2), 0}, {sample("v100", 90, 0, 3), 0}}));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  const ThroughputModel* throughput_model = feed_->latest()->throughput_model();
  ASSERT_NE(throughput_model, nullptr);
  const ProfileName profile{"research", "resnet50"};
  EXPECT_GT(throughput_model->predict(profile, "v100", 2).throughput(),
            throughput_model->predict(profile, "a100", 2).throughput());
}

TEST_F(ModelsFeedTest, other_speeds_are_a_new_version) {
  feed_->offer(offer_of({{sample("v100", 50), 0}}));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  FeedOffer offer = offer_of();
  offer.speeds["a100"] = 0.5;
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  EXPECT_EQ(feed_->latest()->speed("a100"), 0.5);
  EXPECT_EQ(observations().size(), 1U) << "what was measured stays";
}

TEST_F(ModelsFeedTest, FitsPlansOfAShapeBeforeARoundAsks) {
  write_store({sample("v100", 50), sample("v100", 50, 1)});
  FeedOffer offer = offer_of();
  offer.database = database();
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  const auto before = feed_->latest();
  ASSERT_NE(before->predictor().step_time_models(), nullptr);
  const JobSpec job{.profile = {"research", "resnet50"},
                    .shape = ModelShape{25'000'000, 512, 12, 128, 8},
                    .plans = Plans{true, {}}};
  const Resources at{.gpu_type = "v100", .gpus = 2, .nodes = 1, .cores = 8};
  EXPECT_NE(before->predictor().predict(job, at).model_kind, ModelKind::kPlans);
  const int woken = woken_;
  offer.shapes = {{job.profile, *job.shape}};
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  const auto now = feed_->latest();
  EXPECT_EQ(woken_, woken + 1);
  EXPECT_EQ(now->predictor().predict(job, at).model_kind, ModelKind::kPlans);
  EXPECT_EQ(now->predictor().step_time_models()->fits_made(), 0) << "all were made before";
  // Without the job nothing changes, and its fits stay.
  offer.shapes.clear();
  offer.settled = 1;
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  EXPECT_EQ(feed_->latest(), now);
}

TEST_F(ModelsFeedTest, a_report_that_changes_nothing_makes_no_version) {
  std::vector<PendingSample> heard;
  for (int i = 0; i < 50; ++i) heard.push_back({sample("v100", 50, i), 0});
  feed_->offer(offer_of(heard));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  const auto version = feed_->latest();
  const int woken = woken_;
  feed_->offer(offer_of({{sample("v100", 50, 50), 0}}));
  // Then an offer that does change something.
  feed_->offer(offer_of({{sample("a100", 20, 0, 2), 0}}));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  EXPECT_EQ(woken_, woken + 1);
  EXPECT_EQ(version->throughput_model()->observations()[0].samples, 50)
      << "a version never changes";
  EXPECT_EQ(observations().size(), 2U);
}

TEST_F(ModelsFeedTest, a_database_that_cannot_be_read_is_told_once_and_keeps_the_last_fit) {
  test::clear_log();
  feed_->offer(offer_of({{sample("v100", 50), 0}}));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  FeedOffer offer = offer_of();
  offer.database = (folder_ / "missing.db").string();
  for (int settled = 1; settled < 4; ++settled) {
    offer.settled = settled;
    feed_->offer(offer);
    ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  }
  EXPECT_EQ(observations().size(), 1U);
  const auto told = [] {
    int count = 0;
    for (const std::string& line : test::logged())
      if (line.find("cannot learn from job reports") != std::string::npos) ++count;
    return count;
  };
  EXPECT_TRUE(until([&] { return told() > 0; }));
  EXPECT_EQ(told(), 1);
}

TEST_F(ModelsFeedTest, what_the_store_has_replaces_what_was_heard) {
  feed_->offer(offer_of({{sample("v100", 50), 1}}));
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  write_store({sample("v100", 50)});
  FeedOffer offer = offer_of();
  offer.database = database();
  offer.settled = 1;
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  ASSERT_EQ(observations().size(), 1U);
  EXPECT_EQ(observations()[0].samples, 1);
}

TEST_F(ModelsFeedTest, a_store_that_was_begun_anew_is_read_anew) {
  write_store({sample("v100", 50), sample("v100", 50, 1)});
  FeedOffer offer = offer_of();
  offer.database = database();
  offer.settled = 2;
  offer.opened = 1;
  feed_->offer(offer);
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  ASSERT_EQ(observations().size(), 1U);
  fs::remove_all(folder_ / "rubato");
  write_store({sample("a100", 90), sample("a100", 90, 1), sample("a100", 90, 2)});
  offer.opened = 2;
  feed_->offer(offer);
  EXPECT_TRUE(
      until([&] { return observations().size() == 1 && observations()[0].gpu_type == "a100"; }));
}

TEST_F(ModelsFeedTest, nothing_is_called_after_stop) {
  feed_->offer(offer_of());
  ASSERT_TRUE(feed_->wait_urgent(Steady::now() + 60s));
  feed_->stop();
  const int woken = woken_;
  feed_->offer(offer_of({{sample("v100", 50), 0}}));
  EXPECT_TRUE(feed_->wait(Steady::now() + 60s));
  EXPECT_EQ(woken_, woken);
}

}  // namespace
}  // namespace rubato

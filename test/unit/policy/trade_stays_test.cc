// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: why running jobs keep their GPUs.
#include "lib/policy/trade_stays.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "lib/json/json.h"
#include "lib/json/public_view.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

/// Jobs scale with the power .8 of their GPUs.
Models learnt() {
  const std::map<std::string, double> speeds = {{"slow", 1.0}};
  std::vector<ThroughputObservation> observations;
  for (int gpus = 1; gpus <= 8; gpus *= 2)
    observations.push_back({{"lab", "net"}, "slow", gpus, 10 * std::pow(gpus, .8), 50});
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

Job& running(Snapshot& snapshot, std::vector<NodeShare> shares, std::int64_t samples) {
  const int gpus = shares.front().gpu_count();
  Job& job = add_running(snapshot, std::move(shares), kNow + 1'000'000);
  job.account = "lab";
  job.eligible = job.start;
  job.request.gpus = gpus;
  job.later_set = 0;
  job.hints = ResolvedHints{};
  job.hints->job_type = "net";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  job.hints->sizes = GpuSizes({{1, 8}});
  job.hints->checkpoint.signal = SIGUSR1;
  job.hints->resize = Resize::kRestart;
  job.costs = {30, 30, 30};
  return job;
}

Plan round_of(const Snapshot& snapshot, Mode mode = Mode::kElastic) {
  return round(snapshot, learnt(), test::managing_all(mode), kNow);
}

/// A job on half of a node whose change would cost too much.
Snapshot dear_change() {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 4)}, 60'000).costs = {5000, 5000, 5000};
  return snapshot;
}

TEST(TradeStays, AJobThatChangesHasNone) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
  const Plan plan = round_of(snapshot);
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.stays.empty());
}

TEST(TradeStays, ModePlaceHasNone) {
  EXPECT_EQ(round_of(dear_change()).stays.size(), 1U);
  EXPECT_TRUE(round_of(dear_change(), Mode::kPlace).stays.empty());
}

TEST(TradeStays, AJobWithoutConsentHasNone) {
  Snapshot snapshot = dear_change();
  snapshot.jobs[0].hints->resize = Resize::kNone;
  EXPECT_TRUE(round_of(snapshot).stays.empty());
}

TEST(TradeStays, NamesTheCostThatDoesNotPay) {
  const Snapshot snapshot = dear_change();
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.stays.size(), 1U);
  const Stay& stay = plan.stays[0];
  EXPECT_EQ(stay.job, snapshot.jobs[0].key);
  EXPECT_EQ(stay.reason, StayReason::kCost);
  EXPECT_EQ(stay.gpu_type, "slow");
  EXPECT_EQ(stay.gpus, 8);
  EXPECT_EQ(stay.cost, 5000);
  EXPECT_NEAR(stay.seconds_left, 60'000 / (10 * std::pow(4, .8)), 100);
  EXPECT_NEAR(stay.seconds_there, 60'000 / (10 * std::pow(8, .8)) + 5000, 100);
}

TEST(TradeStays, AJobOnItsLargestSizeIsTheFastest) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 8)}, 1'000'000);
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.stays.size(), 1U);
  EXPECT_EQ(plan.stays[0].reason, StayReason::kFastest);
  EXPECT_EQ(plan.stays[0].gpus, 0);
}

// The other job may change, so that its GPUs are in the market, or it may not.
TEST(TradeStays, TellsOtherJobsOfTheMarketFromGpusOutsideOfIt) {
  for (const bool changeable : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    const JobKey key = running(snapshot, {share_of(snapshot, 0, 4)}, 1'000'000).key;
    Job& other = running(snapshot, {share_of(snapshot, 0, 4)}, 1'000'000);
    if (!changeable) other.hints->resize = Resize::kNone;
    const Plan plan = round_of(snapshot);
    EXPECT_TRUE(plan.changes.empty());
    ASSERT_EQ(plan.stays.size(), changeable ? 2U : 1U);
    const Stay& stay = plan.stays[0];
    EXPECT_EQ(stay.job, key);
    EXPECT_EQ(stay.reason, changeable ? StayReason::kPrice : StayReason::kNoGpus);
    EXPECT_EQ(stay.gpus, 8);
    EXPECT_EQ(stay.available, changeable ? 0 : 4);
    EXPECT_LT(stay.seconds_there, stay.seconds_left);
  }
}

TEST(TradeStays, AreReadBack) {
  const Snapshot snapshot = dear_change();
  const Plan plan = round_of(snapshot);
  const auto back = plan_from_json(to_json(plan, snapshot), snapshot);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->stays, plan.stays);
}

TEST(TradeStays, AreHiddenWhereThroughputsAre) {
  for (const PrivateData hidden : {PrivateData{.jobs = true}, PrivateData{.nodes = true},
                                   PrivateData{.usage = true}, PrivateData{.accounts = true}}) {
    Snapshot snapshot = dear_change();
    const Plan plan = round_of(snapshot);
    snapshot.private_data = hidden;
    EXPECT_TRUE(public_view(plan, public_view(snapshot)).stays.empty());
  }
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Mode elastic: the round decides about running and waiting jobs together.
#include "lib/policy/trade.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "lib/json/json.h"
#include "lib/policy/algorithms/change_bounds.h"
#include "lib/policy/algorithms/configuration_table.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config elastic() { return test::managing_all(Mode::kElastic); }

// With further jobs to come, so that short jobs go first.
Config busy() {
  Config config = elastic();
  config.test_off.insert(Mechanism::kClosing);
  return config;
}

// A type that is twice as fast, and jobs that scale with the power .8 of their GPUs, as so many
// jobs measured.
Models learnt(int jobs = 0) {
  const std::map<std::string, double> speeds = {{"fast", 2.0}, {"slow", 1.0}};
  std::vector<ThroughputObservation> observations;
  for (const auto& [type, speed] : speeds) {
    for (int gpus = 1; gpus <= 8; gpus *= 2)
      observations.push_back({{"lab", "net"}, type, gpus, 10 * speed * std::pow(gpus, .8), 50});
  }
  if (jobs > 0)
    for (ThroughputObservation& one : observations) one.jobs = one.profile_jobs = jobs;
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

ResolvedHints hints(std::int64_t samples, int most = 8) {
  ResolvedHints said;
  said.job_type = "net";
  said.work = Work{WorkUnit::kSamples, samples, 0};
  said.sizes = GpuSizes({{1, most}});
  said.checkpoint.signal = SIGUSR1;
  said.resize = Resize::kRestart;
  return said;
}

Job& waiting(Snapshot& snapshot, int gpus, std::int64_t samples, int most = 8) {
  Job& job = add_pending(snapshot, gpus);
  job.account = "lab";
  job.time_limit = 100'000;
  job.later_set = 0;
  job.hints = hints(samples, most);
  return job;
}

Job& running(Snapshot& snapshot, std::vector<NodeShare> shares, std::int64_t samples,
             int most = 8) {
  const int gpus = shares.front().gpu_count();
  Job& job = add_running(snapshot, std::move(shares), kNow + 1'000'000);
  job.account = "lab";
  job.eligible = job.start;
  job.request.gpus = gpus;
  job.later_set = 0;
  job.hints = hints(samples, most);
  job.costs = {30, 30, 30};
  return job;
}

Plan round_of(const Snapshot& snapshot, const Config& config = elastic()) {
  return round(snapshot, learnt(), config, kNow);
}

TEST(Trade, AJobGrowsWhenGpusAreFree) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  const JobKey job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000).key;
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U);
  const Change& change = plan.changes[0];
  EXPECT_EQ(change.job, job);
  EXPECT_EQ(change.action, ChangeAction::kRestart) << "its hint says restart";
  EXPECT_EQ(change.gpus, 8);
  EXPECT_LT(change.seconds_then, change.seconds_left);
  EXPECT_TRUE(change.after.empty()) << "no job must make room";
}

// Its samples/s grow with the power .8 of its GPUs.
TEST(Trade, MinScalingBoundsWhatMoreGpusMustGain) {
  for (const bool live : {false, true}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
    if (live) job.hints->resize = Resize::kLive;
    Config config = elastic();
    config.test_off.insert(Mechanism::kTrial);  // of a size that may gain more than was forecast
    config.min_scaling = .7;
    EXPECT_EQ(round_of(snapshot, config).changes.size(), 1U);
    config.min_scaling = .9;
    EXPECT_TRUE(round_of(snapshot, config).changes.empty());
    config.test_off.insert(Mechanism::kElasticity);
    EXPECT_EQ(round_of(snapshot, config).changes.size(), 1U);
  }
}

TEST(Trade, MinScalingBoundsWhatARequestMustGain) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  waiting(snapshot, 8, 1'000'000);
  Config config = elastic();
  const auto started = [&] {
    const Plan plan = round_of(snapshot, config);
    return plan.starts.size() == 1 ? plan.starts[0].gpus : -1;
  };
  config.min_scaling = .7;
  EXPECT_EQ(started(), 0) << "as requested";
  config.min_scaling = .9;
  EXPECT_THAT(started(), ::testing::AllOf(::testing::Gt(0), ::testing::Lt(8)));
  config.test_off.insert(Mechanism::kElasticity);
  EXPECT_EQ(started(), 0);
}

TEST(Trade, AJobThatResizesLiveGrowsInPlace) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000).hints->resize = Resize::kLive;
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].action, ChangeAction::kGrow);
}

// Of "net" on two GPUs of the slow type, at batches of 32 to 256.
Models with_batches() {
  std::vector<ThroughputObservation> observations;
  std::vector<MeasuredRow> rows;
  for (const auto& [batch, throughput] :
       {std::pair(32, 100.0), std::pair(64, 160.0), std::pair(128, 250.0), std::pair(256, 340.0)}) {
    ThroughputObservation& one = observations.emplace_back();
    one.profile = {"lab", "net"};
    one.gpu_type = "slow";
    one.gpus = 2;
    one.throughput = throughput;
    one.samples = 50;
    one.batch = batch;
    MeasuredRow& row = rows.emplace_back();
    row.profile = one.profile;
    row.gpu_type = one.gpu_type;
    row.gpus = 2;
    row.nodes = 1;
    row.batch = batch;
    row.throughput = throughput;
    row.samples = 50;
  }
  return Models({}, std::make_shared<const ThroughputModel>(TypeSpeeds(), observations),
                std::make_shared<const StepTimeModels>(rows));
}

// The job holds all GPUs, and reports this batch.
std::vector<Change> changes_at_batch(std::int64_t batch, Seconds told = 0) {
  Snapshot snapshot = make_cluster({{"slow", 2}});
  Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000, 2);
  job.hints->batch = Batch{32, 256};
  job.batch_size = told > 0 ? told : batch;
  snapshot.memory.progress = {
      {.job = job.key, .time = kNow - 1, .samples = 1000, .batch = batch, .gpus = 2}};
  return round(snapshot, with_batches(), elastic(), kNow).changes;
}

TEST(Trade, AJobIsToldABatchThatIsFaster) {
  const std::vector<Change> changes = changes_at_batch(32);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].action, ChangeAction::kNotify);
  EXPECT_GT(changes[0].batch, 64);
  EXPECT_EQ(changes[0].gpus, 2);
  EXPECT_TRUE(changes_at_batch(changes[0].batch).empty()) << "it follows";
  EXPECT_TRUE(changes_at_batch(32, changes[0].batch).empty()) << "it was told";
}

// The type was never measured. Reports would show whether the job is too slow there for its time
// limit; but they help only a job that may change then.
TEST(Trade, AJobThatMayChangeStartsWhereItMayBeTooSlow) {
  const std::map<std::string, double> speeds = {{"fast", 2.0}, {"slow", 1.0}};
  const Models models(speeds, std::make_shared<const ThroughputModel>(
                                  TypeSpeeds(speeds), std::vector<ThroughputObservation>{
                                                          {{"lab", "net"}, "fast", 2, 35, 50}}));
  const Config config = elastic();
  for (const bool changes : {false, true}) {
    for (const double stddevs : {.5, 1.5, 2.5}) {
      Snapshot snapshot = make_cluster({{"fast", 2}, {"slow", 2}});
      add_running(snapshot, {share_of(snapshot, 0, 2)}, kNow + 1'000'000);
      Job& job = waiting(snapshot, 2, 100'000, 2);
      job.hints->sizes = GpuSizes({{2, 2}});
      if (!changes) job.hints->checkpoint.signal = 0;
      const RoundInput input{snapshot, models, config, kNow};
      const Forecast there =
          models.forecasts().throughput(job.key, spec_of(input, job), {"slow", 2, 1, 1, 0});
      ASSERT_GT(there.stddev, .1);
      job.time_limit =
          static_cast<Seconds>(100'000 / there.goodput() * std::exp(stddevs * there.stddev));
      const Plan plan = round(snapshot, models, elastic(), kNow);
      EXPECT_EQ(!plan.starts.empty(), stddevs > (changes ? 1 : 2)) << changes << stddevs;
    }
  }
}

// Two GPUs were measured. With four it might pass its time limit; but no other job wants them, and
// the forecast may be wrong.
TEST(Trade, AJobTriesIdleGpusThatItsTypeNeverHad) {
  const std::map<std::string, double> speeds = {{"slow", 1.0}};
  const auto models = [&](double four) {
    std::vector<ThroughputObservation> seen = {{{"lab", "net"}, "slow", 2, 40, 50}};
    if (four > 0) seen.push_back({{"lab", "net"}, "slow", 4, four, 50});
    return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), seen));
  };
  const auto cluster = [](Resize how) {
    Snapshot snapshot = make_cluster({{"slow", 4}});
    Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000, 4);
    job.hints->sizes = GpuSizes({{2, 2}, {4, 4}});
    job.hints->resize = how;
    return snapshot;
  };
  Snapshot live = cluster(Resize::kLive);
  const Models unsure = models(0);
  Config config = elastic();
  const RoundInput input{live, unsure, config, kNow};
  const Forecast four = unsure.forecasts().throughput(
      live.jobs[0].key, spec_of(input, live.jobs[0]), {"slow", 4, 1, 4, 0});
  ASSERT_GT(four.stddev, kTrialStddev);
  const Seconds end =
      kNow + static_cast<Seconds>(1'000'000 / four.goodput() * std::exp(.5 * four.stddev));
  live.jobs[0].end_limit = end;
  const Plan plan = round(live, unsure, config, kNow);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].action, ChangeAction::kGrow);
  EXPECT_EQ(plan.changes[0].gpus, 4);
  EXPECT_TRUE(round(live, models(41), config, kNow).changes.empty()) << "it was measured";
  Snapshot restarts = cluster(Resize::kRestart);
  restarts.jobs[0].end_limit = end;
  EXPECT_TRUE(round(restarts, unsure, config, kNow).changes.empty()) << "that cannot be taken back";
  Snapshot crowded = live;
  waiting(crowded, 2, 100'000, 2).hints->sizes = GpuSizes({{2, 2}});
  const Plan other = round(crowded, unsure, config, kNow);
  EXPECT_TRUE(other.changes.empty());
  EXPECT_EQ(other.starts.size(), 1U);
  config.test_off.insert(Mechanism::kTrial);
  EXPECT_TRUE(round(live, unsure, config, kNow).changes.empty());
}

// 4 GPUs on each of two nodes; the shares name more cores than any placement of the round would.
Snapshot on_two_nodes(Resize how) {
  Snapshot snapshot = make_cluster({{"slow", 4}, {"slow", 4}});
  std::vector<NodeShare> held = {share_of(snapshot, 0, 4), share_of(snapshot, 1, 4)};
  for (NodeShare& share : held) share.cores += 3;
  running(snapshot, held, 10'000'000).hints->resize = how;
  snapshot.jobs.back().request.gpus = 8;
  return snapshot;
}

// The new job is placed first, since it wants as many GPUs, and leaves the first node alone.
TEST(Trade, AJobThatResizesLiveKeepsItsFirstNodeAsItIs) {
  for (const Resize how : {Resize::kLive, Resize::kRestart}) {
    Snapshot snapshot = on_two_nodes(how);
    const Job job = snapshot.jobs[0];
    waiting(snapshot, 4, 20'000, 4).hints->sizes = GpuSizes({{4, 4}});
    const Plan plan = round_of(snapshot);
    ASSERT_EQ(plan.changes.size(), 1U);
    const Change& change = plan.changes[0];
    EXPECT_EQ(change.gpus, 4);
    if (how == Resize::kLive) {
      EXPECT_EQ(change.action, ChangeAction::kShrink);
      EXPECT_THAT(change.shares, ElementsAre(job.allocation[0]));
    } else {
      EXPECT_EQ(change.action, ChangeAction::kRestart);
    }
    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_THAT(plan.starts[0].after, ElementsAre(job.key));
    if (how == Resize::kLive) {
      EXPECT_EQ(plan.starts[0].shares.front().node, NodeIndex{1});
    }
  }
}

TEST(Trade, AJobThatResizesLiveMovesWithoutThatRule) {
  Snapshot snapshot = on_two_nodes(Resize::kLive);
  waiting(snapshot, 4, 20'000, 4).hints->sizes = GpuSizes({{4, 4}});
  Config config = elastic();
  config.test_off.insert(Mechanism::kKeepNodes);
  const Plan plan = round_of(snapshot, config);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].action, ChangeAction::kRestart);
}

// A job of a higher band that may run on the first node alone goes before it.
TEST(Trade, AJobThatResizesLiveGivesItsFirstNodeToOneThatNeedsIt) {
  Snapshot snapshot = on_two_nodes(Resize::kLive);
  snapshot.node_sets.push_back({NodeIndex{0}});
  Job& first = waiting(snapshot, 4, 20'000, 4);
  first.hints->sizes = GpuSizes({{4, 4}});
  first.node_set = first.later_set = NodeSetIndex{snapshot.node_sets.size() - 1};
  first.tier = 2;
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].shares.front().node, NodeIndex{0});
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_NE(plan.changes[0].action, ChangeAction::kShrink);
}

/// A job that changes while it runs, but did not consent to a restart.
Job& running_on(Snapshot& snapshot, std::vector<NodeShare> shares, std::int64_t samples,
                int most = 8) {
  Job& job = running(snapshot, std::move(shares), samples, most);
  job.hints->resize = Resize::kLive;
  job.hints->checkpoint.signal = 0;
  job.request.gpus = held_gpus(job);
  return job;
}

// The best node for 6 GPUs would be the other one, or other cores of its own.
TEST(Trade, AJobThatResizesLiveKeepsAllThatItHas) {
  Snapshot snapshot = make_cluster({{"slow", 8}, {"slow", 6}});
  NodeShare own = share_of(snapshot, 0, 2);
  own.cores += 5;
  const Job job = running_on(snapshot, {own}, 10'000'000, 6);
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U);
  const Change& change = plan.changes[0];
  EXPECT_EQ(change.action, ChangeAction::kGrow);
  EXPECT_EQ(change.gpus, 6);
  ASSERT_EQ(change.shares.front().node, NodeIndex{0});
  EXPECT_GE(change.shares.front().cores, own.cores);
}

// The free node is twice as fast, which only a restart would reach.
TEST(Trade, AJobThatDidNotConsentToRestartsKeepsItsType) {
  Snapshot snapshot = make_cluster({{"slow", 2}, {"fast", 2}});
  running_on(snapshot, {share_of(snapshot, 0, 2)}, 10'000'000, 2);
  EXPECT_TRUE(round_of(snapshot).changes.empty());
  snapshot.jobs[0].hints->checkpoint.signal = SIGUSR1;
  ASSERT_EQ(round_of(snapshot).changes.size(), 1U);
  EXPECT_EQ(round_of(snapshot).changes[0].gpu_type, "fast");
}

TEST(Trade, AJobThatDidNotConsentToRestartsDoesNotStop) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running_on(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
  waiting(snapshot, 8, 100).hints->sizes = GpuSizes({{8, 8}});
  EXPECT_TRUE(round_of(snapshot, busy()).changes.empty());
  snapshot.jobs[1].hints->checkpoint.signal = SIGUSR1;
  ASSERT_EQ(round_of(snapshot, busy()).changes.size(), 1U);
  EXPECT_EQ(round_of(snapshot, busy()).changes[0].action, ChangeAction::kStop);
}

TEST(Trade, AJobThatDidNotConsentToRestartsGivesBackANode) {
  Snapshot snapshot = make_cluster({{"slow", 4}, {"slow", 4}});
  running_on(snapshot, {share_of(snapshot, 0, 4), share_of(snapshot, 1, 4)}, 10'000'000);
  waiting(snapshot, 4, 100, 4).hints->sizes = GpuSizes({{4, 4}});
  const Plan plan = round_of(snapshot, busy());
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].action, ChangeAction::kShrink);
}

// A live change costs less, and is tried first; a restart may reach what it cannot.
// If it were slower than a single job claimed, its time limit would end it.
TEST(Trade, AJobStartsSmallerOnlyWhereMoreThanOneJobWasMeasured) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  add_running(snapshot, {share_of(snapshot, 0, 4)}, kNow + 1'000'000);
  waiting(snapshot, 8, 100'000);
  const Plan proven = round(snapshot, learnt(2), elastic(), kNow);
  ASSERT_EQ(proven.starts.size(), 1U);
  EXPECT_EQ(proven.starts[0].gpus, 4);
  EXPECT_TRUE(round(snapshot, learnt(1), elastic(), kNow).starts.empty());
}

TEST(Trade, AJobThatMayDoBothPaysForWhatItDoes) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
  job.hints->resize = Resize::kLive;
  job.costs = {30, 30, 1};
  const Plan live = round_of(snapshot);
  ASSERT_EQ(live.changes.size(), 1U);
  EXPECT_EQ(live.changes[0].cost, 1);
  Snapshot other = make_cluster({{"slow", 2}, {"slow", 8}});
  Job& moves = running(other, {share_of(other, 0, 2)}, 1'000'000);
  moves.hints->resize = Resize::kLive;
  moves.costs = {30, 30, 1};
  moves.request.min_nodes = moves.request.max_nodes = 1;
  moves.request.fixed_nodes = true;
  const Plan restart = round_of(other);
  ASSERT_EQ(restart.changes.size(), 1U);
  EXPECT_EQ(restart.changes[0].action, ChangeAction::kRestart);
  EXPECT_EQ(restart.changes[0].gpus, 8);
  EXPECT_EQ(restart.changes[0].cost, 30);
}

TEST(Trade, AJobWithoutConsentKeepsWhatItHas) {
  for (const bool checkpoint : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
    if (checkpoint)
      job.hints->resize = Resize::kNone;
    else
      job.hints->checkpoint.signal = 0;
    EXPECT_TRUE(round_of(snapshot).changes.empty());
  }
}

// Gradient noise grows, so that without the work that is left no batch can be chosen for it.
TEST(Trade, ABatchBelowItsOwnIsChosenOnlyForKnownWorkOrForNow) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  Job& job = waiting(snapshot, 2, 1'000'000);
  job.hints->batch = Batch{32, 256};
  const Models models = learnt();
  const auto grows = [&](Mode mode) {
    const Config config = test::managing_all(mode);
    return spec_of({snapshot, models, config, kNow}, job).batch_grows;
  };
  EXPECT_FALSE(grows(Mode::kPlace));
  job.hints->work.reset();
  EXPECT_TRUE(grows(Mode::kPlace));
  EXPECT_FALSE(grows(Mode::kElastic)) << "it is told another one later";
  job.hints->resize = Resize::kNone;
  EXPECT_TRUE(grows(Mode::kElastic));
}

// Of the fast type all GPUs are held for some more seconds, of the slow one all are free.
TEST(Trade, AJobThatCannotChangeLaterWaitsForItsType) {
  for (const bool changes : {false, true}) {
    Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
    Job& before = running(snapshot, {share_of(snapshot, 0, 8)}, 100);
    before.hints->checkpoint = {};
    before.hints->resize = Resize::kNone;
    Job& job = waiting(snapshot, 8, 1'000'000);
    if (!changes) job.hints->resize = Resize::kNone;
    const Plan plan = round_of(snapshot, busy());
    ASSERT_EQ(plan.starts.size(), changes ? 1U : 0U);
    if (changes) EXPECT_EQ(plan.starts[0].gpu_type, "slow");
  }
}

TEST(Trade, ModePlaceChangesNoRunningJob) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
  waiting(snapshot, 8, 1000);
  Config place = elastic();
  place.mode = Mode::kPlace;
  const Plan plan = round_of(snapshot, place);
  EXPECT_TRUE(plan.changes.empty());
  EXPECT_TRUE(plan.prices.empty());
}

TEST(Trade, ALongJobMakesRoomForAShortOne) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  const JobKey longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000).key;
  waiting(snapshot, 4, 20'000, 4);
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].job, longer);
  EXPECT_LT(plan.changes[0].gpus, 8);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_THAT(plan.starts[0].after, ElementsAre(longer)) << "its nodes are not free yet";
}

TEST(Trade, AChangeThatDoesNotPayIsNotMade) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  Job& job = running(snapshot, {share_of(snapshot, 0, 4)}, 60'000);
  job.costs = {5000, 5000, 5000};
  EXPECT_TRUE(round_of(snapshot).changes.empty());
  job.costs = {};
  EXPECT_EQ(round_of(snapshot).changes.size(), 1U) << "free, it would";
}

TEST(Trade, AJobThatIsStartingIsLeftToStart) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000).starting = 10;
  EXPECT_TRUE(round_of(snapshot).changes.empty());
}

// Until what is under way is over; a change by the round that failed is not tried again before as
// much time has passed as the try took, and a restart costs.
TEST(Trade, AJobThatIsChangingIsLeftAlone) {
  struct Case {
    ResizeStep step;
    bool by_round;
    bool changes;
  };
  for (const auto& [step, by_round, changes] :
       {Case{ResizeStep::kSaving, true, false}, Case{ResizeStep::kSaving, false, false},
        Case{ResizeStep::kDone, true, true}, Case{ResizeStep::kFailed, true, false},
        Case{ResizeStep::kFailed, false, true}}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    AskedResize under_way;
    under_way.job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000).key;
    under_way.step = step;
    under_way.by_round = by_round;
    under_way.asked = kNow - 120;
    under_way.since = kNow - 20;
    under_way.due = kNow + 60;
    snapshot.memory.asked_resizes = {under_way};
    EXPECT_EQ(!round_of(snapshot).changes.empty(), changes) << to_string(step) << by_round;
  }
}

TEST(Trade, AFailedChangeKeepsItsJobOutForAsLongAsTheTryAndARestart) {
  struct Case {
    Seconds interval;
    Seconds took;
    double restart;
    Seconds out;
  };
  for (const auto& [interval, took, restart, out] :
       {Case{60, 100, 30, 130}, Case{60, 0, 30, 60}, Case{60, 0, 0, 60}, Case{60, 0, 90.5, 91},
        Case{5, 0, 3, 5}, Case{0, 0, 30, 60}}) {
    for (const Seconds ago : {out - 1, out}) {
      Snapshot snapshot = make_cluster({{"slow", 8}});
      Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
      job.costs.restart = restart;
      AskedResize failed;
      failed.job = job.key;
      failed.by_round = true;
      failed.step = ResizeStep::kFailed;
      failed.since = kNow - ago;
      failed.asked = failed.since - took;
      snapshot.memory.asked_resizes = {failed};
      Config config = elastic();
      config.message_interval = interval;
      const Models models = learnt();
      EXPECT_EQ(is_changing({snapshot, models, config, kNow}, job), ago < out) << out;
      EXPECT_EQ(round(snapshot, models, config, kNow).changes.empty(), ago < out) << out;
    }
  }
}

TEST(Trade, AJobMovesToTheFasterTypeThatComesFree) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  Job& job = running(snapshot, {share_of(snapshot, 1, 8)}, 10'000'000);
  job.hints->sizes = GpuSizes({{8, 8}});
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].gpu_type, "fast");
  EXPECT_EQ(plan.changes[0].action, ChangeAction::kRestart);
}

TEST(Trade, AJobThatMayStartNowhereElseKeepsWhatItHas) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1'000'000);
  job.later_set = {};
  EXPECT_TRUE(round_of(snapshot).changes.empty()) << "it may not start anywhere else";
}

TEST(Trade, AJobOnANodeThatIsNotUsableIsLeftAlone) {
  Snapshot snapshot = make_cluster({{"slow", 8}, {"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 8)}, 1'000'000);
  snapshot.nodes[0].usable = false;  // another job completes there
  EXPECT_TRUE(round_of(snapshot).changes.empty());
}

TEST(Trade, AJobWithoutGpusIsLeftAlone) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  NodeShare cores{0, 4, 0, {}};
  running(snapshot, {cores}, 1'000'000).hints->device = Device::kAny;
  EXPECT_TRUE(round_of(snapshot).changes.empty());
}

// Its rest takes about 950 s on the fast type and 1900 s on the slow one, and a short job waits for
// the fast one.
TEST(Trade, AJobDoesNotGoWhereItsTimeLimitWouldEndIt) {
  Config config = elastic();
  config.test_off.insert(Mechanism::kClosing);
  for (const Seconds left : {Seconds{1500}, Seconds{200'000}}) {
    Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
    Job& job = running(snapshot, {share_of(snapshot, 0, 8)}, 100'000);
    job.start = job.eligible = kNow;
    job.end_limit = kNow + left;
    job.time_limit = left;
    job.hints->sizes = GpuSizes({{8, 8}});
    job.costs = {};
    Job& other = waiting(snapshot, 8, 20'000);
    other.hints->sizes = GpuSizes({{8, 8}});
    other.hints->gpu_types = {{"fast"}};
    const Plan plan = round_of(snapshot, config);
    const bool moved = std::ranges::any_of(
        plan.changes, [](const Change& change) { return change.gpu_type == "slow"; });
    EXPECT_EQ(moved, left > 1900) << left;
  }
}

TEST(Trade, AJobGrowsIntoNoReservationOfSlurm) {
  Snapshot snapshot = make_cluster({{"slow", 8}, {"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000, 16);
  EXPECT_EQ(round_of(snapshot).changes.size(), 1U);
  snapshot.node_sets.push_back({NodeIndex{1}});
  snapshot.windows.push_back({"maintenance", kNow + 3600, kNow + 7200, NodeSetIndex{1}});
  EXPECT_TRUE(round_of(snapshot).changes.empty());
}

TEST(Trade, AJobWithoutHintsTakesPart) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  const JobKey longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000).key;
  Job& plain = add_pending(snapshot, 4);
  plain.time_limit = 600;
  plain.account = "lab";
  const JobKey shorter = plain.key;
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].job, longer) << "it makes room";
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].job, shorter);
  EXPECT_EQ(plan.starts[0].gpus, 0) << "as requested";
}

TEST(Trade, AJobWithoutHintsGoesToTheFasterType) {
  for (const bool first : {true, false}) {
    Snapshot snapshot =
        first ? make_cluster({{"fast", 8}, {"slow", 8}}) : make_cluster({{"slow", 8}, {"fast", 8}});
    add_pending(snapshot, 4);
    const Plan plan = round_of(snapshot);
    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].gpu_type, "fast");
  }
}

// The long job is worth less, but it is of a higher band of priority, or tier.
TEST(Trade, AJobOfAHigherBandGoesFirst) {
  for (const bool tier : {true, false}) {
    for (const bool off : {true, false}) {
      Snapshot snapshot = make_cluster({{"slow", 8}});
      for (int i = 0; i < 2; ++i) {
        Job& job = waiting(snapshot, 8, i == 0 ? 1000 : 100'000);
        job.hints->sizes = GpuSizes({{8, 8}});
        if (tier)
          job.tier = i + 1;
        else
          job.priority = static_cast<std::uint32_t>(1000 * (i + 1));
      }
      Config config = busy();
      if (off) config.test_off.insert(Mechanism::kBands);
      const Plan plan = round_of(snapshot, config);
      ASSERT_EQ(plan.starts.size(), 1U);
      EXPECT_EQ(plan.starts[0].job.id, off ? 1U : 2U) << tier;
    }
  }
}

// Growth beyond one GPU goes by what it is worth, whatever the band.
TEST(Trade, AJobOfAHigherBandGivesWhatItNeedsLeast) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  waiting(snapshot, 1, 1'000'000).priority = 2000;
  waiting(snapshot, 1, 1000).priority = 1000;
  EXPECT_EQ(round_of(snapshot, busy()).starts.size(), 2U);
}

TEST(Trade, AJobOfALowerBandDoesNotMakeAnotherStop) {
  for (const bool off : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
    longer.hints->sizes = GpuSizes({{8, 8}});
    longer.priority = 2000;
    longer.costs = {1, 1, 1};
    for (int i = 0; i < 2; ++i) {
      Job& job = waiting(snapshot, 8, 1000);
      job.hints->sizes = GpuSizes({{8, 8}});
      job.priority = static_cast<std::uint32_t>(1000 + i);
    }
    Config config = busy();
    if (off) config.test_off.insert(Mechanism::kBands);
    EXPECT_EQ(round_of(snapshot, config).changes.size(), off ? 1U : 0U);
  }
}

// PriorityBand=auto. Else a stop changes the bands, and two jobs take each other's GPUs in turn.
TEST(Trade, ARunningJobHasTheBandThatItWouldHaveIfItWaited) {
  for (const bool off : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
    longer.hints->sizes = GpuSizes({{8, 8}});
    longer.priority = 2000;
    longer.costs = {1, 1, 1};
    Job& shorter = waiting(snapshot, 8, 1000);  // alone, so the waiting jobs have one priority
    shorter.hints->sizes = GpuSizes({{8, 8}});
    shorter.priority = 1000;
    Config config = busy();
    if (off) config.test_off.insert(Mechanism::kBands);
    EXPECT_EQ(round_of(snapshot, config).changes.size(), off ? 1U : 0U);
  }
}

TEST(Trade, FairShareWeighs) {
  for (const bool off : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    for (int i = 0; i < 2; ++i) {
      Job& job = waiting(snapshot, 8, i == 0 ? 90'000 : 100'000);
      job.hints->sizes = GpuSizes({{8, 8}});
      job.fair_share = i == 0 ? 0 : 1;
    }
    Config config = busy();
    if (off) config.test_off.insert(Mechanism::kFairShare);
    const Plan plan = round_of(snapshot, config);
    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].job.id, off ? 1U : 2U) << "a tenth more work, four times the weight";
  }
}

TEST(Trade, AGuaranteedJobIsNotSlowedDown) {
  for (const bool guaranteed : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
    longer.qos = "high";
    waiting(snapshot, 4, 20'000, 4);
    Config config = elastic();
    if (guaranteed) config.guaranteed_qos = {"high"};
    EXPECT_EQ(round_of(snapshot, config).changes.size(), guaranteed ? 0U : 1U);
  }
}

// It was submitted with 2 GPUs and runs on 8 now: 2 are what it is promised.
TEST(Trade, AGuaranteeIsThatOfTheSubmittedSize) {
  for (const int submitted : {2, 8}) {
    Snapshot snapshot = make_cluster({{"slow", 8}});
    Job& longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
    longer.qos = "high";
    longer.hints->request_gpus = submitted;
    waiting(snapshot, 4, 20'000, 4);
    Config config = elastic();
    config.guaranteed_qos = {"high"};
    EXPECT_EQ(round_of(snapshot, config).changes.size(), submitted == 8 ? 0U : 1U);
  }
}

// On half of the GPUs of the faster type it is faster than its request on the slower one.
TEST(Trade, AGuaranteedJobGivesBackWhatItDoesNotNeed) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  Job& longer = running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
  longer.qos = "high";
  const JobKey key = longer.key;
  waiting(snapshot, 4, 2'000, 4).hints->gpu_types = {{"fast"}};
  running(snapshot, {share_of(snapshot, 1, 8)}, 10'000'000).hints->resize = Resize::kNone;
  Config config = elastic();
  config.guaranteed_qos = {"high"};
  const Plan plan = round_of(snapshot, config);
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes[0].job, key);
  EXPECT_LT(plan.changes[0].gpus, 8);
  EXPECT_GE(plan.changes[0].gpus, 4);
}

TEST(Trade, AJobThatNoNodeCanHoldBuysNothing) {
  for (const bool known : {true, false}) {
    Snapshot snapshot = make_cluster({{"slow", 4}, {"slow", 4}});
    Job& job = known ? waiting(snapshot, 8, 1000) : add_pending(snapshot, 8);
    job.request.gpus_per_node = 8;
    if (known) job.hints->sizes = GpuSizes({{8, 8}});
    EXPECT_TRUE(round_of(snapshot).prices.empty()) << "it is outside of the market";
  }
}

// Where it would be the fastest it may not run, and there it would meet its limit.
TEST(Trade, TheTimeOfAJobIsThatOnItsOwnNodes) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  snapshot.node_sets.push_back({NodeIndex{1}});
  Job& job = waiting(snapshot, 8, 100'000);
  job.time_limit = 1000;
  job.hints->sizes = GpuSizes({{8, 8}});
  job.node_set = job.later_set = NodeSetIndex{snapshot.node_sets.size() - 1};
  const Plan plan = round_of(snapshot);
  EXPECT_EQ(plan.prices.size(), 2U) << "it runs as requested on its fastest type";
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");
}

TEST(Trade, AllTasksOfAnArrayStartWhereGpusAreFree) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  Job& array = add_pending(snapshot, 2);
  array.array_id = array.key.id;
  array.tasks = 6;
  EXPECT_EQ(round_of(snapshot).starts.size(), 4U) << "on 8 GPUs";
}

TEST(Trade, AJobBidsOnlyForNodesWhereItMayRun) {
  Snapshot snapshot = make_cluster({{"fast", 8}, {"slow", 8}});
  snapshot.node_sets.push_back({NodeIndex{1}});
  for (int i = 0; i < 2; ++i) {
    Job& job = waiting(snapshot, 8, 100'000);
    job.hints->sizes = GpuSizes({{8, 8}});
    job.node_set = job.later_set = NodeSetIndex{snapshot.node_sets.size() - 1};
  }
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.starts.size(), 1U);
  EXPECT_EQ(plan.starts[0].gpu_type, "slow");
  ASSERT_EQ(plan.prices.size(), 2U);
  for (const TypePrice& price : plan.prices)
    EXPECT_EQ(price.price > 0, price.gpu_type == "slow") << price.gpu_type << " " << price.price;
}

// Its last report is of a run before: it was stopped, waited for a day, and runs again.
TEST(Trade, AJobDoesNothingWhileItWaits) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  Job& job = running(snapshot, {share_of(snapshot, 0, 2)}, 1);
  job.hints->work.reset();
  job.start = kNow - 10;
  job.restarts = 1;
  job.costs = {1, 1, 1};
  Progress progress;
  progress.job = job.key;
  progress.time = kNow - 86'400;
  progress.samples = 1000;
  progress.throughput = 10;
  snapshot.memory.progress.push_back(progress);
  const Plan plan = round_of(snapshot);
  ASSERT_EQ(plan.changes.size(), 1U) << "it grows";
  // As much again as it did: 1000 samples, and 10 seconds since its start.
  EXPECT_NEAR(plan.changes[0].seconds_left, 1100 / (10 * std::pow(2, .8)), 5);
}

TEST(Trade, ExplainsWhyAJobWaits) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 8)}, 20'000).hints->sizes = GpuSizes({{8, 8}});
  waiting(snapshot, 8, 100'000'000, 8).hints->sizes = GpuSizes({{8, 8}});
  const Plan plan = round_of(snapshot);
  EXPECT_TRUE(plan.starts.empty());
  ASSERT_EQ(plan.explanations.size(), 1U);
  EXPECT_EQ(plan.explanations[0].word, "RubatoGPUs");
  EXPECT_THAT(plan.explanations[0].reason, HasSubstr("a GPU of type slow is worth"));
  ASSERT_EQ(plan.prices.size(), 1U);
  EXPECT_GT(plan.prices[0].price, 0);
}

TEST(Trade, ThePlanIsReadBackFromItsJson) {
  Snapshot snapshot = make_cluster({{"slow", 8}});
  running(snapshot, {share_of(snapshot, 0, 8)}, 10'000'000);
  waiting(snapshot, 4, 20'000, 4);
  const Plan plan = round_of(snapshot);
  ASSERT_FALSE(plan.changes.empty());
  const auto again = plan_from_json(to_json(plan, snapshot), snapshot);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, plan);
  const auto seen = snapshot_from_json(to_json(snapshot));
  ASSERT_TRUE(seen) << seen.error().text;
  EXPECT_EQ(*seen, snapshot);
}

TEST(SizesOn, AreAllOfANodeThenWholeNodes) {
  Snapshot snapshot = make_cluster({{"slow", 4}});
  Job& job = waiting(snapshot, 2, 1000, 30);
  EXPECT_THAT(sizes_on(job, 4, 64), ElementsAre(1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 30));
  EXPECT_THAT(sizes_on(job, 4, 5), ElementsAre(1, 2, 3, 4)) << "no more than there are";
  job.hints->unit = 4;
  EXPECT_THAT(sizes_on(job, 4, 20), ElementsAre(2, 4, 8, 12, 16, 20)) << "its own always";
  job.hints.reset();
  EXPECT_THAT(sizes_on(job, 4, 64), ElementsAre(2));
}

}  // namespace
}  // namespace rubato

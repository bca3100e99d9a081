// SPDX-License-Identifier: GPL-2.0-or-later
// Progress histories in rounds: memory, classes, levels, remaining time of a running job.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "lib/json/job_annotation.h"
#include "lib/json/json.h"
#include "lib/json/public_view.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/service.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

constexpr const char* kType = "net";

void give_work(Job& job, std::int64_t samples) {
  job.account = "lab";
  job.hints = ResolvedHints();
  job.hints->job_type = kType;
  job.hints->work = Work{.unit = WorkUnit::kSamples, .count = samples};
}

// 100 samples/s on one GPU.
Models learnt() {
  return Models({{"fast", 1}},
                std::make_shared<const ThroughputModel>(
                    TypeSpeeds({{"fast", 1}}),
                    std::vector<ThroughputObservation>{{{"lab", kType}, "fast", 1, 100, 50}}));
}

ProgressHistory progress_history_with(const Job& job, double quality, bool predictable) {
  ProgressHistory progress_history;
  progress_history.job = job.key;
  progress_history.start = job.start;
  progress_history.updated = kNow - 10;
  progress_history.points = {{kNow - 20, 900, 510.5}, {kNow - 10, 1000, 500}};
  progress_history.losses = {{1000, 2.5, 3}};
  progress_history.total = 50000;
  progress_history.total_low = 40000;
  progress_history.total_high = 60000;
  progress_history.left = 500;
  progress_history.left_low = 450.25;
  progress_history.left_high = 560;
  progress_history.scored = 5;
  progress_history.quality = quality;
  progress_history.due = progress_history.predictable = predictable;
  return progress_history;
}

Snapshot one_running(double quality, bool predictable) {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Job& job = add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 10000);
  job.request.gpus = 1;
  give_work(job, 50000);
  snapshot.memory.progress_histories = {progress_history_with(job, quality, predictable)};
  snapshot.memory.types = {{.account = "lab",
                            .job_type = kType,
                            .jobs = 3,
                            .quality = 0.7,
                            .predictable = true,
                            .updated = kNow - 9}};
  return snapshot;
}

TEST(ProgressHistory, GoesThroughTheStateFileAndTheRound) {
  const Snapshot snapshot = one_running(0.75, true);
  const Plan plan = round(snapshot, learnt(), {}, kNow);
  EXPECT_EQ(plan.memory.progress_histories, snapshot.memory.progress_histories);
  EXPECT_EQ(plan.memory.types, snapshot.memory.types);
  const auto back = memory_from_json(to_json(plan.memory, snapshot), snapshot);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->progress_histories, snapshot.memory.progress_histories);
  EXPECT_EQ(back->types, snapshot.memory.types);
}

TEST(ProgressHistory, AWrongStateFileIsNamed) {
  const auto wrong = [](const std::string& members) {
    std::string left_out = "none";
    const auto read =
        memory_from_json(R"({"schema":"rubato.state/1",)" + members + "}", Snapshot(), &left_out);
    return read ? left_out : read.error().text;
  };
  EXPECT_EQ(wrong(R"("courses":[{"id":2},{"id":1}])"),
            "courses: must be sorted by id and submit, each once");
  EXPECT_EQ(wrong(R"("courses":[{"id":2,"quality":1.5}])"),
            "1 part is left out: courses[0].quality: must be from 0 to 1");
  EXPECT_EQ(wrong(R"("courses":[{"id":2,"left":-5}])"),
            "1 part is left out: courses[0].left: must be from 0 to 1e18");
  EXPECT_EQ(wrong(R"("types":[{"job_type":"b"},{"job_type":"a"}])"),
            "types: must be sorted by account and job type, each once");
}

TEST(ProgressHistory, IsKeptWhileARequeuedJobIsNotToBeSeen) {
  Snapshot snapshot = one_running(0.75, true);
  snapshot.jobs.clear();
  EXPECT_EQ(round(snapshot, learnt(), {}, kNow).memory.progress_histories.size(), 1U);
  EXPECT_EQ(round(snapshot, learnt(), {}, kNow + kRequeueTime).memory.progress_histories.size(),
            0U);
}

TEST(ProgressHistory, TellsWhatIsLeftUnlessItWasWrongSoFar) {
  const Models models;
  Snapshot good = one_running(0.75, true);
  good.jobs[0].start = good.memory.progress_histories[0].start = kNow - 100;
  EXPECT_EQ(seconds_left(good, good.jobs[0], models.forecasts(), kNow), 490);
  good.memory.progress_histories[0].quality = 0.1;
  EXPECT_EQ(seconds_left(good, good.jobs[0], models.forecasts(), kNow), 100)
      << "as long again as it ran";
  good.memory.progress_histories[0].start = kNow - 5000;  // from an earlier run
  good.memory.progress_histories[0].quality = 0.9;
  EXPECT_EQ(seconds_left(good, good.jobs[0], models.forecasts(), kNow), 100);
  EXPECT_EQ(*work_left(good, good.jobs[0]), 49000) << "done before it was requeued";
}

TEST(ProgressHistory, ATargetLossHasWorkOnceTheLossTells) {
  Snapshot snapshot = one_running(0.75, true);
  snapshot.jobs[0].hints->work = Work{.unit = WorkUnit::kTargetLoss, .target_loss = 1};
  EXPECT_EQ(*work_left(snapshot, snapshot.jobs[0]), 49000);
  snapshot.memory.progress_histories[0].total = 0;
  EXPECT_FALSE(work_left(snapshot, snapshot.jobs[0]));
}

TEST(ProgressHistory, OwnForecastsCountBeforeTheJobType) {
  Snapshot snapshot = one_running(0.75, true);
  Job& job = snapshot.jobs[0];
  ProgressHistory& progress_history = snapshot.memory.progress_histories[0];
  const ProfileName profile{"lab", kType};
  const auto told = [&](bool known) { return predictability(snapshot, job, profile, known); };
  EXPECT_TRUE(told(false).predictable);
  EXPECT_TRUE(told(false).measured);
  progress_history.due = progress_history.predictable = false;
  progress_history.quality = 0.1;
  EXPECT_FALSE(told(true).predictable) << "its type cannot speak for it any more";
  progress_history.scored = 2;
  EXPECT_TRUE(told(true).predictable) << "too little was judged";
  EXPECT_FALSE(told(true).measured);
  EXPECT_FALSE(told(false).predictable);
  snapshot.memory.types[0].predictable = false;
  EXPECT_FALSE(told(true).predictable) << "its type was not";
}

// Five jobs with the same attained service; one needs little. That only helps if it is predictable.
struct Queue {
  Snapshot snapshot = make_cluster({{"fast", 4}});
  Config config;

  Queue() {
    config.mode = Mode::kPlace;
    for (const std::int64_t samples : {100'000, 200'000, 300'000, 400'000, 50'000})
      give_work(add_pending(snapshot, 4), samples);
    for (const Job& job : snapshot.jobs)
      snapshot.memory.service.push_back({.job = job.key, .updated = kNow - 1});
    for (std::size_t i = 0; i < 4; ++i) {
      snapshot.memory.service[i].attained = 10 * static_cast<double>(i + 1);
      snapshot.memory.service[i].since_promotion = 10 * static_cast<double>(i + 1);
    }
    snapshot.memory.service[4].attained = snapshot.memory.service[4].since_promotion = 100;
  }
  [[nodiscard]] Service last() const { return update_service(snapshot, learnt(), config, kNow)[4]; }
};

TEST(ProgressHistory, TheClassChangesTheLevelAndExplainSaysSo) {
  Queue queue;
  const Service counted = queue.last();
  EXPECT_TRUE(counted.predictable);
  EXPECT_EQ(counted.level, 1);
  EXPECT_EQ(counted.level_unpredictable, 2);
  const Plan plan = round(queue.snapshot, learnt(), queue.config, kNow);
  const auto told = std::find_if(plan.explanations.begin(), plan.explanations.end(),
                                 [&](const Explanation& e) { return e.job == counted.job; });
  ASSERT_NE(told, plan.explanations.end());
  const auto fact = [&](const std::string& name) {
    for (const auto& [key, value] : told->facts)
      if (key == name) return value;
    return std::string("none");
  };
  EXPECT_EQ(fact("class"), "P");
  EXPECT_EQ(fact("level_unpredictable"), "2");
  EXPECT_NE(told->reason.find("puts it there instead of in level 2"), std::string::npos)
      << told->reason;

  ProgressHistory bad = progress_history_with(queue.snapshot.jobs[4], 0.05, false);
  queue.snapshot.memory.progress_histories = {bad};
  const Service uncounted = queue.last();
  EXPECT_FALSE(uncounted.predictable);
  EXPECT_EQ(uncounted.level, 2);
  queue.config.test_off.insert(Mechanism::kPredictability);
  EXPECT_TRUE(queue.last().predictable) << "unseen";
}

TEST(ProgressHistory, TheSegmentHasIntervalAndClass) {
  const Snapshot snapshot = one_running(0.75, true);
  const Job& job = snapshot.jobs[0];
  const Progress progress{
      .job = job.key, .time = kNow, .samples = 1000, .throughput = 90, .batch = 1, .loss = {}};
  const JobAnnotation annotation =
      annotation_of(job, nullptr, &progress, nullptr, &snapshot.memory.progress_histories[0]);
  EXPECT_EQ(annotation.remaining, 500);
  EXPECT_EQ(annotation.at, snapshot.memory.progress_histories[0].updated);
  const std::string text = render_annotation(annotation);
  EXPECT_NE(text.find("remaining=500 left-low=450 left-high=560 class=P"), std::string::npos)
      << text;
  EXPECT_EQ(*find_annotation(text), annotation);
}

TEST(ProgressHistory, PrivateDataHidesIt) {
  Snapshot snapshot = one_running(0.75, true);
  snapshot.private_data.jobs = true;
  const Memory shown = public_view(snapshot).memory;
  EXPECT_TRUE(shown.progress_histories.empty());
  EXPECT_TRUE(shown.types.empty());
}

}  // namespace
}  // namespace rubato::test

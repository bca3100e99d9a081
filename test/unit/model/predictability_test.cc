// SPDX-License-Identifier: GPL-2.0-or-later
// Convergence of a loss, remaining time, and predictable jobs.
#include "lib/model/progress/predictability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "lib/model/progress/convergence.h"

namespace rubato::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<LossPoint> losses(double b0, double b1, double b2, int n, double noise,
                              unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<LossPoint> points;
  for (int i = 1; i <= n; ++i) {
    const double x = 1000.0 * i;
    points.push_back({x, (1 / (b0 * x + b1) + b2) * std::exp(noise * normal(random)), 1});
  }
  return points;
}

double samples_to(double b0, double b1, double b2, double target) {
  return (1 / (target - b2) - b1) / b0;
}

TEST(Convergence, FindsTheCurveAndWhenItReachesATarget) {
  const LossFit fit = fit_loss(losses(1e-4, 0.3, 0.8, 20, 0), 1.1);
  ASSERT_TRUE(fit.curve.valid);
  EXPECT_NEAR(fit.curve.b2, 0.8, 0.02);
  ASSERT_TRUE(fit.target.predictable);
  EXPECT_NEAR(fit.target.samples / samples_to(1e-4, 0.3, 0.8, 1.1), 1, 0.05);
  EXPECT_LE(fit.target.low, fit.target.samples);
  EXPECT_GE(fit.target.high, fit.target.samples);
  EXPECT_NEAR(fit.curve.at(5000), 1 / (0.5 + 0.3) + 0.8, 0.02);
}

TEST(Convergence, HoldsUnderNoise) {
  double sum = 0;
  int inside = 0;
  constexpr int kRounds = 100;
  const double truth = samples_to(1e-4, 0.3, 0.8, 1.1);
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    auto points = losses(1e-4, 0.3, 0.8, 24, 0.01, seed);
    points[7].loss *= 3;  // a spike
    const LossFit fit = fit_loss(points, 1.1);
    ASSERT_TRUE(fit.target.predictable) << seed;
    sum += std::abs(fit.target.samples / truth - 1);
    if (truth >= fit.target.low && truth <= fit.target.high) ++inside;
  }
  std::printf(
      "convergence: 24 losses with 1 %% noise and a spike: mean error %.3f, inside the "
      "interval %d of %d\n",
      sum / kRounds, inside, kRounds);
  EXPECT_LT(sum / kRounds, 0.25);
  EXPECT_GT(inside, 70);
}

TEST(Convergence, WhatNeverComesIsNotForetold) {
  const auto points = losses(1e-4, 0.3, 0.8, 20, 0.002);
  EXPECT_FALSE(fit_loss(points, 0.5).target.predictable) << "below the asymptote";
  EXPECT_FALSE(fit_loss(points, 0.8005).target.predictable) << "too far off";
  EXPECT_FALSE(fit_loss({points.begin(), points.begin() + 4}, 1.1).curve.valid) << "too few";
  auto rising = points;
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i].loss = 1 + 0.1 * static_cast<double>(i);
  EXPECT_FALSE(fit_loss(rising, 0.5).curve.valid);
  auto flat = points;
  for (LossPoint& point : flat) point.loss = 2;
  EXPECT_FALSE(fit_loss(flat, 1.5).target.predictable);
  EXPECT_FALSE(fit_loss(points, kNan).target.predictable);
}

TEST(Convergence, OrderDoesNotMatterAndNonsenseIsLeftOut) {
  auto points = losses(1e-4, 0.3, 0.8, 20, 0.01);
  const LossFit fit = fit_loss(points, 1.2);
  for (const double odd : {kNan, -1.0, 0.0, 1e300}) {
    points.push_back({500, odd, 1});
    points.push_back({odd < 0 ? odd : kNan, 1, 1});
  }
  std::mt19937 random(4);
  std::shuffle(points.begin(), points.end(), random);
  const LossFit again = fit_loss(points, 1.2);
  EXPECT_EQ(again.target.samples, fit.target.samples);
  EXPECT_EQ(again.curve.b2, fit.curve.b2);
}

TEST(Convergence, ALongCurveIsThinnedNotCut) {
  std::vector<LossPoint> curve;
  for (int i = 1; i <= 5000; ++i)
    ASSERT_TRUE(add_loss(curve, 100.0 * i, 1 / (1e-5 * 100.0 * i + 0.3) + 0.8));
  EXPECT_LE(curve.size(), kMaxLossPoints);
  int count = 0;
  for (const LossPoint& point : curve) count += point.count;
  EXPECT_EQ(count, 5000);
  EXPECT_TRUE(std::is_sorted(curve.begin(), curve.end(),
                             [](const auto& a, const auto& b) { return a.samples < b.samples; }));
  EXPECT_FALSE(add_loss(curve, 100, 1)) << "goes back";
  EXPECT_FALSE(add_loss(curve, 1e9, kNan));
  EXPECT_TRUE(fit_loss(curve, 0.9).target.predictable);
}

// A job that reports every `every` seconds.
struct Reporter {
  ProgressHistory progress_history;
  ProgressReport report{
      .time = 1000, .samples = 0, .throughput = 100, .batch = 10, .gpus = 4, .start = 990};
  std::optional<Work> work = Work{.unit = WorkUnit::kSamples, .count = 100000};

  void after(Seconds seconds, double done, double throughput) {
    report.time += seconds;
    report.samples = static_cast<std::int64_t>(done);
    report.throughput = throughput;
    follow(progress_history, report, work);
  }
  // Constant throughput from here on.
  void steadily(int reports, Seconds every, double throughput) {
    for (int i = 0; i < reports; ++i)
      after(every, static_cast<double>(report.samples) + throughput * static_cast<double>(every),
            throughput);
  }
};

TEST(Predictability, ASteadyJobWithKnownWorkIsPromotedInAFullRoundOnly) {
  Reporter job;
  job.steadily(2, 10, 100);
  EXPECT_FALSE(job.progress_history.due) << "too little was judged";
  job.steadily(4, 10, 100);
  EXPECT_TRUE(job.progress_history.due);
  EXPECT_FALSE(job.progress_history.predictable);
  std::vector<ProgressHistory> all{job.progress_history};
  promote_all(all);
  EXPECT_TRUE(all[0].predictable);
  EXPECT_NEAR(job.progress_history.left, (100000 - 6000) / 100.0, 20);
  EXPECT_LE(job.progress_history.left_low, job.progress_history.left);
  EXPECT_GE(job.progress_history.left_high, job.progress_history.left);
  EXPECT_GT(job.progress_history.quality, 0.9);
}

TEST(Predictability, WithoutWorkNobodyIsPredictable) {
  Reporter job;
  job.work.reset();
  job.steadily(20, 10, 100);
  EXPECT_FALSE(job.progress_history.due);
  EXPECT_LT(job.progress_history.left, 0);
}

TEST(Predictability, NonsenseStaysUnpredictable) {
  std::mt19937 random(3);
  Reporter job;
  for (int i = 0; i < 40; ++i) {
    job.after(10, static_cast<double>(random() % 90000), static_cast<double>(random() % 5000));
    promote_all(*std::make_unique<std::vector<ProgressHistory>>(
        std::vector<ProgressHistory>{job.progress_history}));
    EXPECT_FALSE(job.progress_history.due) << i << " quality " << job.progress_history.quality;
  }
}

TEST(Predictability, ALyingRateIsFoundOutByTheClock) {
  Reporter job;
  for (int i = 1; i <= 12; ++i) job.after(10, 10.0 * i, 5000);  // 1 sample/s done
  EXPECT_NEAR(job.progress_history.left / ((100000 - 120) / 1.0), 1, 0.1) << "the clock counts";
}

TEST(Predictability, AJobThatTurnsErraticIsDemotedAndComesBack) {
  Reporter job;
  job.steadily(8, 10, 100);
  job.progress_history.predictable = job.progress_history.due;
  ASSERT_TRUE(job.progress_history.predictable);
  for (int i = 0; i < 8; ++i) job.after(10, static_cast<double>(job.report.samples) + 2, 100);
  EXPECT_FALSE(job.progress_history.predictable)
      << "at once, quality " << job.progress_history.quality;
  job.steadily(12, 10, 100);
  EXPECT_TRUE(job.progress_history.due);
  EXPECT_FALSE(job.progress_history.predictable) << "not before a full round";
}

TEST(Predictability, TheClassHasADeadBand) {
  PredictabilityRules rules;
  Reporter job;
  job.steadily(8, 10, 100);
  job.progress_history.predictable = job.progress_history.due;
  // Much slower: the old forecasts were too short.
  Reporter slower = job;
  bool between = false;
  for (int i = 0; i < 6; ++i) {
    slower.after(10, static_cast<double>(slower.report.samples) + 200, 20);
    if (slower.progress_history.quality < rules.promote &&
        slower.progress_history.quality >= rules.demote) {
      between = true;
      EXPECT_TRUE(slower.progress_history.predictable) << slower.progress_history.quality;
    }
  }
  EXPECT_TRUE(between);
}

TEST(Predictability, ARestartBeginsNewForecastsAndKeepsTheClass) {
  Reporter job;
  job.steadily(8, 10, 100);
  job.progress_history.predictable = job.progress_history.due;
  job.report.restarts = 1;
  job.report.start = job.report.time + 500;
  job.after(600, static_cast<double>(job.report.samples), 100);  // ten minutes of waiting
  EXPECT_EQ(job.progress_history.points.size(), 1U);
  EXPECT_TRUE(job.progress_history.predictable);
  job.steadily(6, 10, 100);
  EXPECT_TRUE(job.progress_history.due);
  EXPECT_GT(job.progress_history.quality, 0.9) << "the wait is nobody's error";
}

TEST(Predictability, AJobThatRunsBeyondItsWordLosesTheClass) {
  Reporter job;
  job.work->count = 5000;
  job.steadily(4, 10, 100);
  job.progress_history.predictable = job.progress_history.due;
  job.steadily(15, 20, 100);
  EXPECT_FALSE(job.progress_history.predictable);
  EXPECT_EQ(job.progress_history.left, 0);
}

TEST(Predictability, ALossForetellsTheEnd) {
  Reporter job;
  job.work = Work{.unit = WorkUnit::kTargetLoss, .target_loss = 1.1};
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  for (int i = 1; i <= 60; ++i) {
    const double x = 500.0 * i;
    job.report.loss = (1 / (1e-4 * x + 0.3) + 0.8) * std::exp(0.002 * normal(random));
    job.after(10, x, 50);
  }
  EXPECT_TRUE(job.progress_history.due) << job.progress_history.quality;
  const double truth = (samples_to(1e-4, 0.3, 0.8, 1.1) - 30000) / 50;
  EXPECT_NEAR(job.progress_history.left, std::max(truth, 0.0), 60);
  job.work->target_loss = 0.1;  // never reached
  job.after(10, 500 * 61, 50);
  EXPECT_FALSE(job.progress_history.due);
  EXPECT_LT(job.progress_history.left, 0);
}

// As in the 8,692 jobs published with AITurbo: 85 of 100 are predictable. Times are whole seconds.
TEST(Predictability, TellsTheJobsOfAMixApart) {
  constexpr int kJobs = 400;
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  int right = 0;
  int steady = 0;
  int steady_right = 0;
  double error = 0;
  int errors = 0;
  int inside = 0;
  for (int i = 0; i < kJobs; ++i) {
    const bool predictable = random() % 100 < 85;
    const double throughput = std::exp(3 + 3 * std::uniform_real_distribution<>(0, 1)(random));
    const auto every = static_cast<Seconds>(2 + random() % 60);
    const double length = 600 + static_cast<double>(random() % 7200);
    Reporter job;
    job.work->count = static_cast<std::int64_t>(throughput * length);
    double done = 0;
    double elapsed = 0;
    double drift = 0;
    while (elapsed < 0.7 * length) {
      const auto seconds = static_cast<double>(every);
      // Unpredictable jobs change their throughput by factors, and lose completed work.
      drift = predictable ? 0 : 0.6 * drift + 1.5 * normal(random);
      const double now = throughput * std::exp(0.05 * normal(random) + drift);
      done += now * seconds;
      if (!predictable && random() % 8 == 0) done *= 0.5;
      elapsed += seconds;
      job.after(every, done, now * std::exp(0.05 * normal(random)));
    }
    job.progress_history.predictable = job.progress_history.due;
    steady += predictable ? 1 : 0;
    if (job.progress_history.predictable == predictable) {
      ++right;
      steady_right += predictable ? 1 : 0;
    }
    if (!predictable || job.progress_history.left < 0) continue;
    const double truth = (static_cast<double>(job.work->count) - done) / throughput;
    error += std::abs(job.progress_history.left - truth) / truth;
    ++errors;
    if (job.progress_history.left_low <= truth && truth <= job.progress_history.left_high) ++inside;
  }
  std::printf(
      "predictability: %d jobs, %d of them predictable: %d told right (%d of the "
      "predictable); their forecasts miss by %.3f in the mean, %.3f inside the interval\n",
      kJobs, steady, right, steady_right, error / errors, static_cast<double>(inside) / errors);
  EXPECT_GT(right, 0.95 * kJobs);
  EXPECT_LT(error / errors, 0.1);
  EXPECT_GT(inside, 0.85 * errors);
}

TEST(Predictability, AnyReportsGiveAFiniteCourse) {
  std::mt19937 random(23);
  const auto any = [&]() -> double {
    constexpr double kValues[] = {0,    1,   -3, 1e300, kNan,
                                  1e18, 0.3, 64, -1e18, std::numeric_limits<double>::infinity()};
    return kValues[random() % std::size(kValues)];
  };
  for (int round = 0; round < 300; ++round) {
    ProgressHistory progress_history;
    std::optional<Work> work;
    if (round % 4 != 0)
      work = Work{static_cast<WorkUnit>(round % 3), static_cast<std::int64_t>(random()), any()};
    ProgressReport report;
    for (int i = 0; i < 30; ++i) {
      report.time += static_cast<Seconds>(random() % 40) - 5;
      report.samples = random() % 2 == 0 ? kMaxWork : static_cast<std::int64_t>(random() % 100000);
      report.throughput = any();
      report.batch = static_cast<std::int64_t>(random()) - (1 << 20);
      report.loss = any();
      report.gpus = static_cast<int>(random() % 2);
      follow(progress_history, report, work);
      for (const double value :
           {progress_history.total, progress_history.total_low, progress_history.total_high,
            progress_history.left, progress_history.left_low, progress_history.left_high,
            progress_history.quality})
        ASSERT_TRUE(std::isfinite(value)) << round << " " << i;
      ASSERT_GE(progress_history.total, 0);
      ASSERT_LE(progress_history.points.size(), 6U);
      ASSERT_LE(progress_history.losses.size(), kMaxLossPoints);
      ASSERT_TRUE(progress_history.quality >= 0 && progress_history.quality <= 1);
      ASSERT_TRUE(progress_history.left < 0 ||
                  (progress_history.left_low <= progress_history.left &&
                   progress_history.left <= progress_history.left_high));
    }
  }
}

TEST(Predictability, EachJobHasOneProgressHistory) {
  std::vector<ProgressHistory> progress_histories;
  progress_history_for(progress_histories, {7, 100}).quality = 0.7;
  progress_history_for(progress_histories, {3, 100}).quality = 0.1;
  EXPECT_EQ(progress_history_for(progress_histories, {7, 100}).quality, 0.7);
  EXPECT_EQ(progress_history_for(progress_histories, {3, 300}).quality, 0)
      << "a reused id is another job";
  ASSERT_EQ(progress_histories.size(), 3U);
  EXPECT_TRUE(std::is_sorted(
      progress_histories.begin(), progress_histories.end(),
      [](const ProgressHistory& a, const ProgressHistory& b) { return a.job < b.job; }));
}

TEST(Predictability, AJobTypeIsWhatItsJobsWere) {
  std::vector<TypePredictability> types;
  ProgressHistory good;
  good.scored = 5;
  good.quality = 0.9;
  ProgressHistory bad = good;
  bad.quality = 0;
  ended(good, "lab", "bert", 10, types);
  ASSERT_EQ(types.size(), 1U);
  EXPECT_TRUE(types[0].predictable);
  for (int i = 0; i < 5; ++i) ended(bad, "lab", "bert", 20 + i, types);
  EXPECT_FALSE(types[0].predictable);
  for (int i = 0; i < 5; ++i) ended(good, "lab", "bert", 30 + i, types);
  EXPECT_TRUE(types[0].predictable);
  ended(ProgressHistory(), "lab", "none", 50, types);
  ended(good, "lab", "", 50, types);
  EXPECT_EQ(types.size(), 1U) << "not judged, or no job type";
  for (int i = 0; i < 600; ++i) ended(good, "lab", "t" + std::to_string(i), 100 + i, types);
  EXPECT_EQ(types.size(), kMaxTypeHistories);
}

}  // namespace
}  // namespace rubato::test

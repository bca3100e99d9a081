// SPDX-License-Identifier: GPL-2.0-or-later
// Step time by parameter servers, workers, cores and GPUs, and the curves of cores.
#include "lib/model/step_time/step_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace rubato::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

StepShape shape(int p, int w, int g, double batch = 128, double worker_cores = 0,
                double server_cores = 0) {
  return {p, w, g, worker_cores, server_cores, batch};
}

// The source of a test's samples; implemented again, independent of the model.
struct Truth {
  std::array<double, 7> th{0.004, 0.02, 0.05, 0.02, 0.004, 0.003, 0.006};
  CoreCurve worker{-1.3, 0.8, 1};
  CoreCurve server{-0.8, 2.0, 1};
  double cpu = 12;

  [[nodiscard]] double seconds(const StepShape& s) const {
    const double m = s.batch / s.workers;
    const double ew = s.gpus > 0 ? 1 : cpu * worker.slowdown(s.worker_cores);
    const double ep = server.slowdown(s.server_cores);
    double t = ew * (th[0] * m + th[1]) + th[4] * s.workers + th[5] * s.servers + th[6] * s.gpus;
    if (s.servers > 0) {
      t += (th[2] + th[3] * ep) * s.workers / s.servers;
    } else {
      t += th[2] * (s.workers - 1) / s.workers;
    }
    return t;
  }
};

std::vector<StepShape> gpu_shapes() {
  return {shape(1, 1, 1), shape(1, 2, 2),     shape(2, 2, 2), shape(1, 4, 4),
          shape(2, 4, 4), shape(4, 4, 4, 64), shape(2, 8, 8), shape(1, 2, 2, 256)};
}

std::vector<StepSample> measured(const Truth& truth, const std::vector<StepShape>& shapes,
                                 double noise = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<StepSample> samples;
  for (const StepShape& s : shapes)
    samples.push_back({s, truth.seconds(s) * std::exp(noise * normal(random))});
  return samples;
}

double mean_error(const StepTimeModel& model, const Truth& truth,
                  const std::vector<StepShape>& shapes) {
  double sum = 0;
  for (const StepShape& s : shapes)
    sum += std::abs(model.predict(s).seconds / truth.seconds(s) - 1);
  return sum / static_cast<double>(shapes.size());
}

const std::vector<StepShape> kOthers{shape(2, 1, 1), shape(3, 3, 3), shape(3, 6, 6),
                                     shape(4, 8, 8), shape(1, 3, 3), shape(2, 6, 6, 96)};

TEST(StepTime, RecoversWhatTheSamplesCameFrom) {
  const Truth truth;
  const StepTimeModel model(measured(truth, gpu_shapes()));
  EXPECT_EQ(model.report().kind, StepFit::kFull);
  EXPECT_FALSE(model.report().contradictory);
  EXPECT_LT(mean_error(model, truth, kOthers), 0.02);
}

TEST(StepTime, HoldsUnderNoiseOfFivePercent) {
  const Truth truth;
  double sum = 0;
  int inside = 0;
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    const StepTimeModel model(
        measured(truth, gpu_shapes(), 0.05, static_cast<unsigned>(100 + round)));
    sum += mean_error(model, truth, kOthers);
    for (const StepShape& s : kOthers) {
      const StepForecast told = model.predict(s);
      if (std::abs(std::log(told.seconds / truth.seconds(s))) < 2 * told.stddev) ++inside;
    }
  }
  const double mean = sum / kRounds;
  const double share = inside / (kRounds * static_cast<double>(kOthers.size()));
  RecordProperty("mean_error", std::to_string(mean));
  std::printf(
      "step time: 8 configurations with 5 %% noise, 6 others: mean error %.3f, within two "
      "spreads %.3f\n",
      mean, share);
  EXPECT_LT(mean, 0.08);
  EXPECT_GT(share, 0.85);
}

TEST(StepTime, FindsCurvesOfCoresAndHowMuchSlowerCpusAre) {
  const Truth truth;
  std::vector<StepShape> shapes = gpu_shapes();
  for (const double cores : {1.0, 2.0, 3.0, 6.0, 12.0})
    shapes.push_back(shape(1, 2, 0, 64, cores, 2));
  for (const double cores : {1.0, 2.0, 4.0}) shapes.push_back(shape(2, 4, 4, 128, 0, cores));
  const StepTimeModel model(measured(truth, shapes));
  const std::vector<StepShape> others{shape(1, 2, 0, 64, 4, 2), shape(2, 3, 0, 96, 8, 2),
                                      shape(2, 2, 0, 64, 1.5, 1)};
  EXPECT_LT(mean_error(model, truth, others), 0.1);
  EXPECT_LT(mean_error(model, truth, kOthers), 0.1);
  EXPECT_NEAR(model.cpu_factor() / truth.cpu, 1, 0.3);
  double last = kInf;
  for (double cores = 0.5; cores < 64; cores *= 1.3) {
    const double seconds = model.predict(shape(1, 2, 0, 64, cores, 2)).seconds;
    EXPECT_LE(seconds, last) << "more cores are never slower";
    last = seconds;
  }
}

TEST(StepTime, FewConfigurationsGiveAReducedFitThatKnowsLess) {
  const Truth truth;
  const auto all = measured(truth, gpu_shapes());
  const StepTimeModel one({all[0]});
  EXPECT_EQ(one.report().kind, StepFit::kReduced);
  const StepForecast at = one.predict(all[0].shape);
  EXPECT_NEAR(at.seconds / all[0].seconds, 1, 0.1);
  const StepForecast far = one.predict(shape(1, 8, 8));
  EXPECT_GT(far.stddev, at.stddev);
  EXPECT_GT(far.seconds, 0.01 * at.seconds);
  EXPECT_LT(far.seconds, 100 * at.seconds) << "no wild extrapolation";
  const StepTimeModel full(all);
  EXPECT_LT(full.predict(shape(1, 8, 8)).stddev, far.stddev) << "each sample teaches something";
}

TEST(StepTime, WithoutServersNothingIsDividedByZero) {
  const Truth truth;
  std::vector<StepShape> shapes{shape(0, 1, 1),    shape(0, 2, 2),      shape(0, 4, 4),
                                shape(0, 8, 8),    shape(0, 2, 2, 256), shape(0, 4, 4, 512),
                                shape(0, 8, 8, 64)};
  const StepTimeModel model(measured(truth, shapes));
  const std::vector<StepShape> others{shape(0, 3, 3), shape(0, 6, 6), shape(0, 8, 8, 512)};
  EXPECT_LT(mean_error(model, truth, others), 0.05);
  EXPECT_FALSE(model.predict(shape(0, 16, 16)).extrapolated);
  EXPECT_TRUE(model.predict(shape(2, 4, 4)).extrapolated) << "servers were never measured";
  EXPECT_TRUE(model.predict(shape(0, 4, 0)).extrapolated) << "nor workers on CPUs";
  EXPECT_GT(model.predict(shape(0, 4, 0)).stddev, 1);
}

TEST(StepTime, NothingIsKnownWithoutSamples) {
  const StepTimeModel model;
  EXPECT_EQ(model.report().kind, StepFit::kNone);
  const StepForecast told = model.predict(shape(1, 1, 1));
  EXPECT_FALSE(told.known);
  EXPECT_EQ(told.seconds, 0);
}

TEST(StepTime, OrderAndRepetitionDoNotMatter) {
  const Truth truth;
  auto samples = measured(truth, gpu_shapes(), 0.05, 3);
  const StepTimeModel model(samples);
  std::mt19937 random(5);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(samples.begin(), samples.end(), random);
    EXPECT_EQ(StepTimeModel(samples).coefficients(), model.coefficients());
  }
  auto twice = samples;
  twice.insert(twice.end(), samples.begin(), samples.end());
  EXPECT_EQ(StepTimeModel(twice).coefficients(), model.coefficients());
}

TEST(StepTime, NonsenseIsDroppedAndContradictionsAreSaid) {
  const Truth truth;
  auto samples = measured(truth, gpu_shapes());
  const StepTimeModel clean(samples);
  for (const double seconds : {0.0, -1.0, kNan, kInf, 1e30})
    samples.push_back({shape(1, 1, 1), seconds});
  samples.push_back({shape(-1, 1, 1), 1});
  samples.push_back({shape(1, 0, 1), 1});
  samples.push_back({shape(1, 1, 1, kNan), 1});
  const StepTimeModel model(samples);
  EXPECT_EQ(model.report().dropped, 8);
  EXPECT_EQ(model.coefficients(), clean.coefficients());
  EXPECT_FALSE(model.report().contradictory);

  std::vector<StepSample> same;
  for (int i = 0; i < 12; ++i) same.push_back({shape(1, 2, 2), i % 2 == 0 ? 0.1 : 10.0});
  EXPECT_TRUE(StepTimeModel(same).report().contradictory);
  std::vector<StepSample> constant;
  for (const StepShape& s : gpu_shapes()) constant.push_back({s, 0.5});
  const StepForecast flat = StepTimeModel(constant).predict(shape(2, 16, 16));
  EXPECT_GT(flat.seconds, 0.05);
  EXPECT_LT(flat.seconds, 5);
}

TEST(StepTime, AnyShapeGetsAForecast) {
  std::mt19937 random(11);
  const auto any = [&]() -> double {
    constexpr double kValues[] = {0, 1, 2, -3, 1e9, -1e300, 1e300, kNan, kInf, 0.3, 64};
    return kValues[random() % std::size(kValues)];
  };
  const auto count = [&] { return static_cast<int>(random() % 3 == 0 ? random() : random() % 9); };
  for (int round = 0; round < 200; ++round) {
    std::vector<StepSample> samples;
    const std::size_t n = random() % 12;
    for (std::size_t i = 0; i < n; ++i) {
      const double seconds =
          random() % 4 == 0 ? any() : std::exp(static_cast<double>(random() % 20) - 10);
      samples.push_back({{count(), count(), count(), any(), any(), any()}, seconds});
      if (random() % 2 == 0)
        samples.back().shape = shape(count(), 1 + count() % 4, count() % 3, 32);
    }
    const StepTimeModel model(samples);
    for (int i = 0; i < 10; ++i) {
      const StepForecast told = model.predict({count(), count(), count(), any(), any(), any()});
      ASSERT_TRUE(std::isfinite(told.seconds) && std::isfinite(told.stddev));
      ASSERT_EQ(told.known, told.seconds > 0);
      ASSERT_GE(told.stddev, 0);
    }
    for (const double th : model.coefficients()) ASSERT_GE(th, 0);
  }
}

// With seven configurations chosen by the model, forecasts of the others are better than with the
// first seven.
TEST(StepTime, SaysWhichConfigurationsTeachMost) {
  const Truth truth;
  std::vector<StepShape> all;
  for (const int w : {1, 2, 3, 4, 6, 8})
    for (const int p : {1, 2, 4})
      for (const double batch : {64.0, 256.0}) all.push_back(shape(p, w, w, batch));
  const StepTimeModel nothing;
  const auto chosen = nothing.most_informative_step(all, 8);
  ASSERT_EQ(chosen.size(), 8U);
  ASSERT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 8U);
  std::vector<StepShape> picked;
  for (const std::size_t i : chosen) picked.push_back(all[i]);
  const std::vector<StepShape> first(all.begin(), all.begin() + 8);
  double by_choice = 0;
  double by_order = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    by_choice += mean_error(StepTimeModel(measured(truth, picked, 0.05, seed)), truth, all);
    by_order += mean_error(StepTimeModel(measured(truth, first, 0.05, seed)), truth, all);
  }
  std::printf("step time: error over %zu shapes, 8 chosen %.3f, first 8 %.3f\n", all.size(),
              by_choice / 30, by_order / 30);
  EXPECT_LT(by_choice, by_order);
  const StepTimeModel one(measured(truth, {all[0]}));
  EXPECT_NE(one.most_informative_step(all, 1).front(), 0U) << "not what it knows already";
  EXPECT_EQ(one.most_informative_step({}, 3).size(), 0U);
  EXPECT_EQ(one.most_informative_step(all, 1000).size(), all.size());
}

TEST(CoreCurve, FindsTheCurveOfSamples) {
  const CoreCurve truth{-11.13, 1.05, 9.4};  // resnet50 workers, published
  std::vector<CoreSample> samples;
  for (const double cores : {1.0, 2.0, 3.0, 5.0, 8.0})
    samples.push_back({cores, truth.speed(cores)});
  const CoreFit fit = fit_core_curve(samples);
  ASSERT_TRUE(fit.fitted);
  for (const double cores : {1.0, 1.5, 4.0, 16.0})
    EXPECT_NEAR(fit.curve.speed(cores) / truth.speed(cores), 1, 0.02) << cores;
  EXPECT_EQ(fit.curve.enough(64), truth.enough(64));
}

TEST(CoreCurve, NeverFallsWhateverTheSamplesSay) {
  std::mt19937 random(3);
  constexpr double kValues[] = {0, 1, -3, 1e300, kNan, kInf, 0.3, 64, 1e-300};
  for (int round = 0; round < 200; ++round) {
    std::vector<CoreSample> samples;
    const std::size_t n = random() % 8;
    for (std::size_t i = 0; i < n; ++i) {
      const double any = kValues[random() % std::size(kValues)];
      samples.push_back(
          {random() % 5 == 0 ? any : 1 + static_cast<double>(random() % 16),
           random() % 5 == 1 ? any : std::exp(static_cast<double>(random() % 10) - 5)});
    }
    const CoreFit fit = fit_core_curve(samples);
    double last = 0;
    for (double cores = 0.25; cores < 300; cores *= 1.5) {
      const double speed = fit.curve.speed(cores);
      ASSERT_TRUE(std::isfinite(speed) && speed > 0 && speed >= last);
      ASSERT_TRUE(std::isfinite(fit.curve.slowdown(cores)));
      last = speed;
    }
    for (const double odd : {0.0, -1.0, kNan, kInf, -kInf})
      ASSERT_EQ(fit.curve.speed(odd), fit.curve.d);
    ASSERT_TRUE(std::isfinite(fit.error));
  }
  EXPECT_FALSE(fit_core_curve({}).fitted);
}

}  // namespace
}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/model/plans/plan_belief.h"
#include "lib/model/plans/plan_model.h"
#include "lib/model/plans/plan_published.h"
#include "lib/model/plans/plan_rows.h"
#include "lib/validate/validate_bert.h"

namespace rubato {
namespace {

constexpr ModelShape kShape{
    .params = 1'300'000'000, .hidden = 2048, .layers = 24, .seq = 1024, .heads = 16};
constexpr std::int64_t kBatch = 64;

double& at(PlanTerms& terms, PlanTerm term) { return terms.at(static_cast<std::size_t>(term)); }

// A job type whose truth is the model itself.
PlanTerms truth() {
  PlanTerms t{};
  at(t, PlanTerm::kBackward) = 2.1;
  at(t, PlanTerm::kOverlap) = 1.5;
  at(t, PlanTerm::kOptimiser) = 0.02;
  at(t, PlanTerm::kHostOptimiser) = 3;
  at(t, PlanTerm::kStep) = 12;
  at(t, PlanTerm::kOffload) = 40;
  at(t, PlanTerm::kSwap) = 60;
  at(t, PlanTerm::kOptimiserFixed) = 9;
  at(t, PlanTerm::kForwardSample) = 14;
  at(t, PlanTerm::kForwardFixed) = 6;
  at(t, PlanTerm::kRecompute) = 1.9;
  at(t, PlanTerm::kTensorLoss) = 0.05;
  at(t, PlanTerm::kNetwork) = 0.8;
  at(t, PlanTerm::kGradients) = 1;
  at(t, PlanTerm::kActivations) = 0.7;
  at(t, PlanTerm::kLinks) = 1;
  return t;
}

PlanSample sample(const ExecutionPlan& plan, const PlanConfiguration& configuration, bool parts) {
  const StepParts p = step_parts(truth(), {}, plan, configuration, {kShape, kBatch});
  PlanSample s{
      .plan = plan, .configuration = configuration, .batch = kBatch, .step_seconds = p.step / 1e3};
  if (parts) {
    s.forward_seconds = p.forward / 1e3;
    s.tail_seconds = p.tail / 1e3;
    s.optimiser_seconds = p.optimiser / 1e3;
  }
  return s;
}

std::vector<PlanSample> samples(bool parts) {
  std::vector<PlanSample> out;
  for (const int n : {1, 2, 4, 8}) {
    for (const Zero zero : {Zero::kNone, Zero::kSharded, Zero::kOffload}) {
      out.push_back(sample({.data = n, .zero = zero}, {n, 1, 4}, parts));
    }
  }
  out.push_back(sample({.data = 16}, {16, 2, 4}, parts));
  out.push_back(sample({.data = 4, .steps = 4, .checkpointing = true}, {4, 1, 4}, parts));
  return out;
}

double worst_error(const PlanFit& fit, const std::vector<ExecutionPlan>& plans) {
  double worst = 0;
  for (const ExecutionPlan& plan : plans) {
    const PlanConfiguration configuration{static_cast<int>(plan.gpus()), plan.gpus() > 8 ? 2 : 1,
                                          4};
    const double real = step_parts(truth(), {}, plan, configuration, {kShape, kBatch}).step;
    const double found = step_parts(fit.terms, {}, plan, configuration, {kShape, kBatch}).step;
    worst = std::max(worst, std::abs(found / real - 1));
  }
  return worst;
}

TEST(PlanSpeed, OverlapsBetweenTheSumAndTheLarger) {
  EXPECT_DOUBLE_EQ(overlapped(1, 3, 4), 7);
  EXPECT_DOUBLE_EQ(overlapped(2, 3, 4), 5);
  EXPECT_NEAR(overlapped(100, 3, 4), 4, 1e-6);
  EXPECT_DOUBLE_EQ(overlapped(1.5, 0, 4), 4);
  EXPECT_DOUBLE_EQ(overlapped(1.5, 0, 0), 0);
  EXPECT_TRUE(std::isfinite(overlapped(100, 1e300, 1e-300)));
}

// Computed by hand, for the first row of the published fixture and simple parameters.
TEST(PlanSpeed, FollowsThePublishedFormula) {
  const PlanTerms terms{2, 1, 0.01, 4, 15, 37, 26};
  const PlanEnvironment environment{.pcie = 64, .intra = 100, .inter = 20};
  const StepParts plain = published_parts(terms, environment, {.data = 8}, 1, 320, 40);
  EXPECT_DOUBLE_EQ(plain.tail, 8 * 320 * 7.0 / 8 / 100 + 80);
  EXPECT_DOUBLE_EQ(plain.optimiser, 0.01 * 320 + 26);
  EXPECT_DOUBLE_EQ(plain.step, 40 + plain.tail + plain.optimiser + 15);
  const StepParts offload =
      published_parts(terms, environment, {.data = 8, .zero = Zero::kOffload}, 4, 320, 40);
  EXPECT_DOUBLE_EQ(offload.tail, plain.tail + 37 + 2.5);
  EXPECT_DOUBLE_EQ(offload.optimiser, 4 * 320 / 32.0 + 26 + 2.5);
  // On one GPU there is no exchange.
  EXPECT_DOUBLE_EQ(published_parts(terms, environment, {}, 1, 320, 40).tail, 80);
}

TEST(PlanSpeed, FollowsTheFormulaOfSplitPlans) {
  PlanTerms t = truth();
  at(t, PlanTerm::kTensorLoss) = 0;
  at(t, PlanTerm::kForwardFixed) = 0;
  at(t, PlanTerm::kOverlap) = 1;
  at(t, PlanTerm::kActivations) = 1;
  const PlanEnvironment environment{.pcie = 64, .intra = 100, .inter = 20};
  const ExecutionPlan plan{.data = 2, .tensor = 2, .pipeline = 2, .steps = 4};
  const StepParts parts = step_parts(t, environment, plan, {8, 1, 1}, {kShape, 64});
  // 4 micro-batches of 8 samples plus one more turn, each through a quarter of the model.
  EXPECT_DOUBLE_EQ(parts.forward, 14 * 8 * 5 / 4.0);
  const double params = 1.3e9 / 1048576;
  const double gradients = 8 * (params / 4) / 2 / 100;
  const double layer = 1024.0 * 2048 * 8 / 1048576;
  const double tensor = 32 * layer * 12 * 5 / 2 / 100;
  const double pipeline = 16 * layer * 4 * 2 / 2 / 100;
  EXPECT_NEAR(parts.tail, gradients + 2.1 * parts.forward + tensor + pipeline, 1e-9);
  EXPECT_DOUBLE_EQ(parts.optimiser, 0.02 * params / 4 + 9);
}

TEST(PlanSpeed, MoreMicroBatchesFillAPipeline) {
  const PlanTerms t = truth();
  double before = std::numeric_limits<double>::infinity();
  for (const int steps : {1, 2, 4, 8}) {
    const double forward =
        step_parts(t, {}, {.pipeline = 4, .steps = steps}, {4, 1, 1}, {kShape, 64}).forward;
    EXPECT_LT(forward, before);
    before = forward;
  }
}

TEST(PlanFit, ReproducesThePublishedParameters) {
  const auto section = validate_bert("");
  ASSERT_TRUE(section.has_value());
  for (const auto& [name, holds] : section->gates) EXPECT_TRUE(holds) << name;
  EXPECT_EQ(section->observations.size(), 2U);
}

TEST(PlanFit, FindsWhatMadeTheSamples) {
  const std::vector<ExecutionPlan> plans{{.data = 3},
                                         {.data = 8, .checkpointing = true},
                                         {.data = 5, .zero = Zero::kSharded},
                                         {.data = 6, .zero = Zero::kOffload},
                                         {.data = 12}};
  const PlanFit parts = fit_plans(kShape, samples(true));
  EXPECT_LT(parts.rmsle, 0.02);
  EXPECT_LT(worst_error(parts, plans), 0.05);
  EXPECT_FALSE(parts.flags.any());
  const PlanFit totals = fit_plans(kShape, samples(false));
  EXPECT_LT(totals.rmsle, 0.02);
  EXPECT_LT(worst_error(totals, plans), 0.08);
  EXPECT_FALSE(totals.flags.any());
}

TEST(PlanFit, StaysInsideThePublishedBounds) {
  for (const bool parts : {false, true}) {
    PlanFit fit = fit_plans(kShape, samples(parts));
    EXPECT_GE(at(fit.terms, PlanTerm::kBackward), 1);
    EXPECT_LE(at(fit.terms, PlanTerm::kBackward), 10);
    EXPECT_GE(at(fit.terms, PlanTerm::kOverlap), 1);
    for (const double term : fit.terms) EXPECT_GE(term, 1e-8);
  }
}

TEST(PlanFit, DoesNotCareForTheOrder) {
  std::vector<PlanSample> turned = samples(true);
  std::reverse(turned.begin(), turned.end());
  EXPECT_EQ(fit_plans(kShape, turned), fit_plans(kShape, samples(true)));
}

TEST(PlanFit, KnowsLessOfWhatWasNotMeasured) {
  std::vector<PlanSample> plain;
  for (const PlanSample& s : samples(true)) {
    if (s.plan.zero == Zero::kNone) plain.push_back(s);
  }
  const PlanFit fit = fit_plans(kShape, plain);
  const double known = stddev_of(fit, {}, {.data = 4}, {4, 1, 4}, {kShape, kBatch});
  const double unknown =
      stddev_of(fit, {}, {.data = 4, .zero = Zero::kOffload}, {4, 1, 4}, {kShape, kBatch});
  EXPECT_LT(known, 0.1);
  EXPECT_GT(unknown, 2 * known);
}

TEST(PlanFit, FlagsWhatIsWrongAndStaysNear) {
  const double real = step_parts(truth(), {}, {.data = 8}, {8, 1, 4}, {kShape, kBatch}).step / 1e3;
  const auto forecast = [&](const std::vector<PlanSample>& of, PlanFitFlags& flags) {
    const PlanModel model(kShape, of);
    flags = model.fit().flags;
    return model.of_plan({.configuration = {8, 1, 4}, .batch = kBatch}, {.data = 8}).step_seconds;
  };
  PlanFitFlags flags;

  EXPECT_GT(forecast({}, flags), 0);
  EXPECT_TRUE(flags.nothing && flags.few);

  std::vector<PlanSample> wrong = samples(false);
  for (const double seconds :
       {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e300, 1e-300}) {
    wrong.push_back(wrong.front());
    wrong.back().step_seconds = seconds;
  }
  wrong.push_back(wrong.front());
  wrong.back().plan.data = 7;
  EXPECT_NEAR(forecast(wrong, flags) / real, 1, 0.05);
  EXPECT_TRUE(flags.rejected);

  std::vector<PlanSample> contradictory = samples(false);
  contradictory.push_back(contradictory.front());
  contradictory.back().step_seconds *= 20;
  forecast(contradictory, flags);
  EXPECT_TRUE(flags.contradictory);

  std::vector<PlanSample> constant = samples(false);
  for (PlanSample& s : constant) s.step_seconds = 1;
  const double same = forecast(constant, flags);
  EXPECT_TRUE(flags.constant);
  EXPECT_GT(same, 0.1);
  EXPECT_LT(same, 10);

  // One outlier among many settings does not move the rest.
  std::vector<PlanSample> outlier = samples(false);
  outlier.push_back(sample({.data = 8, .steps = 2}, {8, 1, 4}, false));
  outlier.back().step_seconds *= 1000;
  EXPECT_NEAR(forecast(outlier, flags) / real, 1, 0.1);
  EXPECT_TRUE(flags.poor);
}

TEST(PlanFit, ManyOfTheSameAreOneSetting) {
  std::vector<PlanSample> many;
  for (int i = 0; i < 500; ++i) many.push_back(sample({.data = 2}, {2, 1, 4}, false));
  const PlanFit fit = fit_plans(kShape, many);
  EXPECT_EQ(fit.settings, 1);
  EXPECT_EQ(fit.used, 500);
  EXPECT_EQ(fit.merged.front().reports, 500);
  EXPECT_TRUE(fit.flags.few);
}

TEST(PlanRows, ChoosesFewThatTeachTheRest) {
  std::vector<PlanSetting> settings;
  for (const int t : {1, 2, 4, 8}) {
    for (const int p : {1, 2, 4}) {
      for (const int d : {1, 2, 4}) {
        const int gpus = t * p * d;
        settings.push_back({{.data = d, .tensor = t, .pipeline = p, .steps = p},
                            {gpus, std::max(1, gpus / 8), 1},
                            kBatch});
      }
    }
  }
  const auto measure = [&](std::size_t i) {
    return sample(settings[i].plan, settings[i].configuration, false);
  };
  const std::vector<std::size_t> chosen = choose_settings(kShape, settings, 7, measure);
  ASSERT_EQ(chosen.size(), 7U);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 7U);
  EXPECT_EQ(choose_settings(kShape, settings, 7, measure), chosen);
  std::vector<PlanSample> known;
  for (const std::size_t i : chosen) known.push_back(measure(i));
  const std::vector<PlanSample> first([&] {
    std::vector<PlanSample> out;
    for (std::size_t i = 0; i < 7; ++i) out.push_back(measure(i));
    return out;
  }());
  const auto error = [&](const std::vector<PlanSample>& from) {
    const PlanFit fit = fit_plans(kShape, from);
    double sum = 0;
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const PlanSample s = measure(i);
      const double step =
          step_parts(fit.terms, {}, s.plan, s.configuration, {kShape, kBatch}).step / 1e3;
      sum += std::abs(std::log(step / s.step_seconds));
    }
    return sum / static_cast<double>(settings.size());
  };
  EXPECT_LT(error(known), 0.1);
  // Chosen rows are more informative than the first ones, which are all of small jobs.
  EXPECT_LT(error(known), error(first));
}

}  // namespace
}  // namespace rubato

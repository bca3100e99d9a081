// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/numeric/bounded_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato {
namespace {

double rosenbrock(std::span<const double> x) {
  return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
}

TEST(BoundedFit, FindsTheBottomOfABentValley) {
  const std::vector<FitParameter> parameters{{-1.2, -5, 5}, {1, -5, 5}};
  const FitResult fit = minimise(parameters, rosenbrock);
  EXPECT_NEAR(fit.values[0], 1, 1e-3);
  EXPECT_NEAR(fit.values[1], 1, 2e-3);
  EXPECT_LT(fit.objective, 1e-6);
}

TEST(BoundedFit, StopsAtABound) {
  const std::vector<FitParameter> parameters{{0, -5, 0.5}, {1, -5, 5}};
  const FitResult fit = minimise(parameters, rosenbrock);
  EXPECT_NEAR(fit.values[0], 0.5, 1e-6);
  EXPECT_NEAR(fit.values[1], 0.25, 1e-3);
}

TEST(BoundedFit, SearchesDecadesByTheirLogarithm) {
  const std::vector<FitParameter> parameters{{1, 1e-8, 1e8, true}};
  const FitResult fit = minimise(
      parameters, [](std::span<const double> x) { return std::abs(std::log(x[0] / 3e-6)); });
  EXPECT_NEAR(fit.values[0] / 3e-6, 1, 1e-3);
}

TEST(BoundedFit, SurvivesWhatIsNotANumberAndAStartOutsideTheBounds) {
  const std::vector<FitParameter> parameters{{-7, 0, 10}};
  const FitResult fit = minimise(parameters, [](std::span<const double> x) {
    return x[0] < 2 ? std::nan("") : std::pow(x[0] - 3, 2);
  });
  EXPECT_GE(fit.values[0], 0);
  EXPECT_LE(fit.values[0], 10);
  EXPECT_TRUE(std::isfinite(fit.objective));
  EXPECT_TRUE(minimise({}, [](std::span<const double>) { return 4.0; }).values.empty());
}

TEST(BoundedFit, KeepsItsBudgetAndRepeatsItself) {
  const std::vector<FitParameter> parameters{{-1.2, -5, 5}, {1, -5, 5}};
  int calls = 0;
  const auto counted = [&](std::span<const double> x) {
    ++calls;
    return rosenbrock(x);
  };
  const FitResult first = minimise(parameters, counted, 200);
  EXPECT_LE(calls, 220);
  EXPECT_LE(first.objective, rosenbrock(std::vector<double>{-1.2, 1}));
  EXPECT_EQ(minimise(parameters, counted, 200).values, first.values);
}

}  // namespace
}  // namespace rubato

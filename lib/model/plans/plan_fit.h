// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the step time of execution plans to measurements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/model/plans/plan_speed.h"

namespace rubato {

/// A measured step. Unmeasured parts are 0.
struct PlanSample {
  ExecutionPlan plan{};
  PlanConfiguration configuration{};
  std::int64_t batch = 1;
  double step_seconds = 0;
  double forward_seconds = 0;
  double tail_seconds = 0;       ///< StepParts::tail
  double optimiser_seconds = 0;  ///< StepParts::optimiser
  std::int64_t reports = 1;      ///< number of reports in this mean

  auto operator<=>(const PlanSample&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Problems of a fit; several may hold.
struct PlanFitFlags {
  bool nothing = false;        ///< no sample was usable
  bool few = false;            ///< fewer distinct settings than published terms
  bool rejected = false;       ///< impossible samples were left out
  bool contradictory = false;  ///< one setting was measured with very different times
  bool poor = false;           ///< the fit misses its own samples by more than 25 %
  bool constant = false;       ///< settings that must differ had equal times

  [[nodiscard]] bool any() const {
    return nothing || few || rejected || contradictory || poor || constant;
  }
  [[nodiscard]] bool operator==(const PlanFitFlags&) const = default;
};

struct PlanFit {
  PlanTerms terms{};
  /// Posterior covariance of the terms' logarithms, row by row.
  std::array<double, kPlanTerms * kPlanTerms> covariance{};
  double rmsle = 0;       ///< of step times, over settings
  int settings = 0;       ///< number of distinct ones
  std::int64_t used = 0;  ///< number of samples
  std::int64_t left_out = 0;
  PlanFitFlags flags;
  std::vector<PlanSample> merged;  ///< one per setting, sorted

  bool operator==(const PlanFit&) const = default;
};

/// kShapeGuessed: volumes are fitted with a wide prior.
enum class PlanBelief { kShapeKnown, kShapeGuessed };

/// Fits the terms to samples in any order. Minimises the errors in logarithms of steps and known
/// parts (the published objective), near the prior. The prior: a backward pass takes two forward
/// passes; times that cannot be separated get equal shares. A term without data keeps a wide prior.
/// Ignores times that are not finite or not between a microsecond and a month, and plans that
/// cannot run. Deterministic.
[[nodiscard]] PlanFit fit_plans(const ModelShape& shape, const std::vector<PlanSample>& samples,
                                const PlanEnvironment& environment = {},
                                PlanBelief belief = PlanBelief::kShapeKnown);

/// ln(step time) by the logarithm of each term.
[[nodiscard]] PlanTerms sensitivity(const PlanTerms& terms, const PlanEnvironment& environment,
                                    const ExecutionPlan& plan,
                                    const PlanConfiguration& configuration, const PlanWork& work);

/// Standard deviation of the logarithm of a measured step around the fit.
[[nodiscard]] double step_noise(const PlanFit& fit);

/// Standard deviation of ln(step time) of a plan after the fit, including the fit's own error.
[[nodiscard]] double stddev_of(const PlanFit& fit, const PlanEnvironment& environment,
                               const ExecutionPlan& plan, const PlanConfiguration& configuration,
                               const PlanWork& work);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Fits the step time of execution plans to measurements.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/model/plans/plan_speed.h"

namespace rubato {

/// A measured step. Parts that were not measured are 0.
struct PlanSample {
  ExecutionPlan plan{};
  PlanConfiguration configuration{};
  std::int64_t batch = 1;
  double step_seconds = 0;
  double forward_seconds = 0;
  double tail_seconds = 0;       ///< StepParts::tail
  double optimiser_seconds = 0;  ///< StepParts::optimiser
  std::int64_t reports = 1;      ///< that this is the mean of

  auto operator<=>(const PlanSample&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Problems of a fit; several may hold.
struct PlanFitFlags {
  bool nothing = false;        ///< no sample could be used
  bool few = false;            ///< fewer distinct settings than published terms
  bool rejected = false;       ///< samples that cannot be were left out
  bool contradictory = false;  ///< the same setting was measured with times far apart
  bool poor = false;           ///< the fit misses its own samples by more than a quarter
  bool constant = false;       ///< settings that must differ were measured alike

  [[nodiscard]] bool any() const {
    return nothing || few || rejected || contradictory || poor || constant;
  }
  [[nodiscard]] bool operator==(const PlanFitFlags&) const = default;
};

struct PlanFit {
  PlanTerms terms{};
  /// Posterior covariance of the terms' logarithms, by rows.
  std::array<double, kPlanTerms * kPlanTerms> covariance{};
  double rmsle = 0;       ///< of the step times, over settings
  int settings = 0;       ///< distinct ones
  std::int64_t used = 0;  ///< samples
  std::int64_t left_out = 0;
  PlanFitFlags flags;
  std::vector<PlanSample> merged;  ///< one for each setting, sorted

  bool operator==(const PlanFit&) const = default;
};

/// kShapeGuessed: volumes are fitted as if nothing were known of them.
enum class PlanBelief { kShapeKnown, kShapeGuessed };

/// From samples in any order. The terms that least miss, in logarithms, steps and the parts that
/// are known (the published objective), near their prior: the backward pass takes
/// two forward passes; times that cannot be told apart get equal shares. So a term that
/// no sample speaks of keeps a belief, and a wide one. Left out: times that are not finite and
/// between a microsecond and a month, plans that cannot run. Same samples, same bytes.
[[nodiscard]] PlanFit fit_plans(const ModelShape& shape, const std::vector<PlanSample>& samples,
                                const PlanEnvironment& environment = {},
                                PlanBelief belief = PlanBelief::kShapeKnown);

/// ln(step time) by the logarithm of each term.
[[nodiscard]] PlanTerms sensitivity(const PlanTerms& terms, const PlanEnvironment& environment,
                                    const ExecutionPlan& plan,
                                    const PlanConfiguration& configuration, const PlanWork& work);

/// Standard deviation of the logarithm of a measured step around the fit.
[[nodiscard]] double step_noise(const PlanFit& fit);

/// ln(step time) of a plan: standard deviation that the fit leaves, its own error included.
[[nodiscard]] double stddev_of(const PlanFit& fit, const PlanEnvironment& environment,
                               const ExecutionPlan& plan, const PlanConfiguration& configuration,
                               const PlanWork& work);

}  // namespace rubato

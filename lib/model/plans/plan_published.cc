// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_published.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lib/model/numeric/bounded_fit.h"

namespace rubato {
namespace {

// As in the authors' code: 4 bytes per parameter in each direction, and 4 on PCIe.
constexpr double kGradientBytes = 8;
constexpr double kPcieBytes = 4;
constexpr std::size_t kPublishedTerms = 7;
// Upper bound of all terms, far above any measured step; the published bounds have no upper end.
constexpr double kMax = 1e6;

constexpr std::array<FitParameter, kPublishedTerms> kParameters{{
    {1.5, 1, 10, false},
    {1, 1, 1000, true},
    {0.001, 1e-8, kMax, true},
    {1, 1e-8, kMax, true},
    {1, 1e-8, kMax, true},
    {1, 0, kMax, false},
    {1, 0, kMax, false},
}};

PlanTerms terms_of(std::span<const double> values) {
  PlanTerms terms{};
  std::copy(values.begin(), values.end(), terms.begin());
  return terms;
}

// Root mean square; 0 without values.
class Rms {
 public:
  void add(double predicted, double measured) {
    if (!(measured > 0)) return;
    const double error = std::log(predicted / measured);
    sum_ += error * error;
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ > 0 ? std::sqrt(sum_ / count_) : 0; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

StepParts published_parts(const PlanTerms& terms, const PlanEnvironment& environment,
                          const ExecutionPlan& plan, int cores_per_gpu, double params_mi,
                          double forward_ms) {
  const auto term = [&](PlanTerm which) { return terms[static_cast<std::size_t>(which)]; };
  const double n = plan.data;
  const double backward = term(PlanTerm::kBackward) * forward_ms;
  const bool offload = plan.zero == Zero::kOffload;
  const double volume = kGradientBytes * params_mi * (n - 1) / n / environment.intra;
  const double pcie = offload ? kPcieBytes * params_mi / n / environment.pcie : 0;
  StepParts parts;
  parts.forward = (plan.checkpointing ? kPublishedRecompute : 1) * forward_ms;
  parts.tail = overlapped(term(PlanTerm::kOverlap), volume, backward);
  double optimiser = term(PlanTerm::kOptimiser) * params_mi;
  if (plan.zero == Zero::kSharded) optimiser /= n;
  if (offload) {
    parts.tail += term(PlanTerm::kOffload) + pcie;
    optimiser = term(PlanTerm::kHostOptimiser) * params_mi / (n * std::max(1, cores_per_gpu));
  }
  parts.optimiser = optimiser + term(PlanTerm::kSwap) + pcie;
  parts.step = parts.forward + parts.tail + parts.optimiser + term(PlanTerm::kStep);
  return parts;
}

PlanTerms fit_published(std::span<const PublishedSample> samples,
                        const PlanEnvironment& environment) {
  const auto objective = [&](std::span<const double> values) {
    const PlanTerms terms = terms_of(values);
    Rms tail;
    Rms optimiser;
    Rms step;
    for (const PublishedSample& s : samples) {
      const StepParts parts =
          published_parts(terms, environment, s.plan, s.cores_per_gpu, s.params_mi, s.forward_ms);
      tail.add(parts.tail, s.tail_ms);
      optimiser.add(parts.optimiser, s.optimiser_ms);
      step.add(parts.step, s.step_ms);
    }
    return tail.value() + optimiser.value() + step.value();
  };
  return terms_of(minimise(kParameters, objective, 20000).values);
}

}  // namespace rubato

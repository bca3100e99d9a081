// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_belief.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr double kMi = 1048576;
// No information: a factor of four and a half either way.
constexpr double kWide = 1.5;
// Floating-point operations per millisecond of an average GPU in training, and the tokens of a
// sample if the shape has none.
constexpr double kMiddlingSpeed = 5e10;
constexpr double kMiddlingTokens = 512;
constexpr double kMiddlingBatch = 32;
// A forward pass is a third of a step. The backward pass is the rest: two products instead of one.
constexpr double kForwardShare = 1.0 / 3;
// Adam on a GPU reads and writes 28 bytes per parameter. GPU memory moves about 1.5e9 bytes per
// millisecond, within a factor of two.
constexpr double kOptimiserMs = 28 * kMi / 1.5e9;
// Collectives reach about the same share of the links' bandwidth everywhere. Without a known
// bandwidth, links may be PCIe, ten times slower than those of the published model's nodes.
constexpr double kLinksKnown = 0.2;
constexpr double kLinksGuessed = 1.2;
// If only the sum of two times is measured, equal centres give equal shares; the size of the shares
// matters little.
constexpr double kShare = 0.1;

double mean_log(const std::vector<PlanSample>& settings, auto value) {
  double sum = 0;
  int count = 0;
  for (const PlanSample& s : settings) {
    const double x = value(s);
    if (!(x > 0)) continue;
    sum += std::log(x);
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 0;
}

// Forward pass of one sample through the whole model on one GPU, ms.
double forward_of(const ModelShape& shape, const std::vector<PlanSample>& settings) {
  const double measured = mean_log(settings, [](const PlanSample& s) {
    const double forward =
        s.forward_seconds > 0 ? s.forward_seconds : s.step_seconds * kForwardShare;
    // Pipeline turns do useful work, except those that fill it.
    const double share = static_cast<double>(s.batch) / s.configuration.gpus *
                         (s.plan.steps + s.plan.pipeline - 1.0) / s.plan.steps;
    return forward * 1e3 / share;
  });
  if (measured > 0) return measured;
  const double tokens = shape.seq > 0 ? static_cast<double>(shape.seq) : kMiddlingTokens;
  return 2 * static_cast<double>(std::max<std::int64_t>(1, shape.params)) * tokens / kMiddlingSpeed;
}

// Ranks times cores that share the update on the host.
double host_hands(const std::vector<PlanSample>& settings) {
  const double measured = mean_log(settings, [](const PlanSample& s) {
    return s.plan.zero == Zero::kOffload ? 1.0 * s.plan.data * s.configuration.cores_per_gpu : 0.0;
  });
  return measured > 0 ? measured : 8;
}

class Believer {
 public:
  Believer(double step, double params, double forward)
      : step_(step), params_(params), forward_(forward) {}

  TermBelief& of(PlanTerm term) { return beliefs_.at(static_cast<std::size_t>(term)); }

  // A separate time in a step, divided over `over` parts.
  void time(PlanTerm term, double share, double over = 1) {
    of(term) = {share * step_ / over, kWide, 1e-8, std::max(1e-6, 4 * step_ / over)};
    of(term).centre = std::clamp(of(term).centre, of(term).low, of(term).high);
  }

  PlanBeliefs all(double hands, bool guessed, bool links_known) {
    of(PlanTerm::kBackward) = {2, 0.35, 1, 10};
    of(PlanTerm::kOverlap) = {2, 0.7, 1, 100};
    of(PlanTerm::kOptimiser) = {kOptimiserMs, 0.7, 1e-8, 1e3 * kOptimiserMs};
    time(PlanTerm::kOptimiserFixed, kShare / 2);
    time(PlanTerm::kHostOptimiser, kShare, params_ / hands);
    of(PlanTerm::kHostOptimiser).high *= hands;
    time(PlanTerm::kSwap, kShare);
    time(PlanTerm::kOffload, kShare);
    time(PlanTerm::kStep, kShare / 2);
    of(PlanTerm::kForwardSample) = {forward_, 1, forward_ * 1e-3, forward_ * 1e3};
    time(PlanTerm::kForwardFixed, kShare / 4);
    of(PlanTerm::kRecompute) = {1.9, 0.06, 1.2, 2.2};
    of(PlanTerm::kTensorLoss) = {0.05, 0.7, 1e-4, 0.5};
    of(PlanTerm::kNetwork) = {1, 0.7, 0.02, 50};
    of(PlanTerm::kLinks) =
        links_known ? TermBelief{1, kLinksKnown, 0.1, 10} : TermBelief{1, kLinksGuessed, 0.01, 20};
    // Published volumes assume 4 bytes per element; half of that is common.
    of(PlanTerm::kGradients) = {1, 0.5, 0.1, 10};
    of(PlanTerm::kActivations) = {1, 0.5, 0.1, 10};
    if (guessed) {
      of(PlanTerm::kGradients) = {1, 2, 1e-3, 1e3};
      of(PlanTerm::kActivations) = {1, 2, 1e-3, 1e3};
    }
    return beliefs_;
  }

 private:
  double step_;  ///< a usual step, ms
  double params_;
  double forward_;
  PlanBeliefs beliefs_;
};

}  // namespace

PlanBeliefs beliefs_of(const ModelShape& shape, const std::vector<PlanSample>& settings,
                       PlanBelief belief, bool links_known) {
  const double forward = forward_of(shape, settings);
  double step = mean_log(settings, [](const PlanSample& s) { return s.step_seconds * 1e3; });
  if (!(step > 0)) step = forward / kForwardShare * kMiddlingBatch;
  const double params = std::max(1e-6, static_cast<double>(shape.params) / kMi);
  return Believer(step, params, forward)
      .all(host_hands(settings), belief == PlanBelief::kShapeGuessed, links_known);
}

PlanTerms centres(const PlanBeliefs& beliefs) {
  PlanTerms terms{};
  for (std::size_t i = 0; i < kPlanTerms; ++i) terms.at(i) = beliefs.at(i).centre;
  return terms;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_speed.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr double kMi = 1048576;
// Bytes that the published model moves per parameter for gradients: 4 in each direction.
constexpr double kGradientBytes = 8;
// Bytes on PCIe per parameter, one way.
constexpr double kPcieBytes = 4;
// Four exchanges per layer and step, forward and backward, 4 bytes in each direction.
constexpr double kTensorBytes = 32;
constexpr double kPipelineBytes = 16;

constexpr std::array<std::string_view, kPlanTerms> kNames{
    "k_bwd",     "k_sync",      "k_opt",         "k_opt_off",   "k_const", "k_off",
    "k_swap",    "k_opt_fixed", "k_fwd_sample",  "k_fwd_fixed", "k_gc",    "k_tp",
    "k_network", "k_gradients", "k_activations", "k_links"};

// GB/s per GPU of the published model's nodes (A800).
constexpr double kPublishedLink = 400;

// One plan at one configuration: the quantities of both families.
class Step {
 public:
  Step(const PlanTerms& terms, const PlanEnvironment& environment, const ExecutionPlan& plan,
       const PlanConfiguration& configuration, const PlanWork& work)
      : terms_(terms),
        environment_(environment),
        plan_(plan),
        configuration_(configuration),
        work_(work) {
    params_ = static_cast<double>(work.shape.params) / kMi;
    micro_ = static_cast<double>(work.batch) / plan.data / plan.steps;
    forward_ = term(PlanTerm::kForwardFixed) + term(PlanTerm::kForwardSample) * micro_;
  }

  [[nodiscard]] StepParts family_a() const {
    const double steps = plan_.steps;
    const double backward = term(PlanTerm::kBackward) * forward_;
    const double again = again_of(forward_);
    const bool sharded = plan_.zero != Zero::kNone;
    const double volume = gradient_time(params_, configuration_.nodes > 1);
    // Plain data parallelism exchanges only after the last micro-batch.
    const double exchange = sharded ? steps * volume / 2 : volume;
    StepParts parts;
    parts.forward = steps * forward_;
    parts.tail = (steps - 1) * backward + steps * again +
                 overlapped(term(PlanTerm::kOverlap), exchange, backward);
    const double shard = params_ / plan_.data;
    if (plan_.zero == Zero::kOffload) {
      const double pcie = kPcieBytes * shard / environment_.pcie;
      parts.tail += term(PlanTerm::kOffload) + pcie;
      parts.optimiser =
          term(PlanTerm::kHostOptimiser) * shard / std::max(1, configuration_.cores_per_gpu) +
          term(PlanTerm::kSwap) + pcie + volume / 2;
    } else {
      parts.optimiser = term(PlanTerm::kOptimiser) * (sharded ? shard : params_) +
                        term(PlanTerm::kOptimiserFixed) + (sharded ? volume / 2 : 0);
    }
    return with_sum(parts);
  }

  [[nodiscard]] StepParts family_b() const {
    const double split = 1.0 * plan_.tensor * plan_.pipeline;
    const double turns = plan_.steps + plan_.pipeline - 1.0;
    const double loss = 1 + term(PlanTerm::kTensorLoss) * std::log2(plan_.tensor);
    StepParts parts;
    parts.forward = forward_ * loss * turns / split;
    const double backward = term(PlanTerm::kBackward) * parts.forward;
    // Ranks run through the tensor group first, then through the replicas of a stage.
    const bool replicas_inside = configuration_.nodes == 1 ||
                                 configuration_.min_per_node() % (plan_.tensor * plan_.data) == 0;
    const double exchange = gradient_time(params_ / split, !replicas_inside);
    parts.tail = overlapped(term(PlanTerm::kOverlap), exchange, backward) +
                 again_of(parts.forward) + tensor_time(turns) + pipeline_time();
    parts.optimiser =
        term(PlanTerm::kOptimiser) * params_ / split + term(PlanTerm::kOptimiserFixed);
    return with_sum(parts);
  }

 private:
  [[nodiscard]] double term(PlanTerm which) const {
    return terms_[static_cast<std::size_t>(which)];
  }

  [[nodiscard]] double inside_node() const { return environment_.intra * term(PlanTerm::kLinks); }

  [[nodiscard]] double between_nodes() const {
    return environment_.inter * term(PlanTerm::kNetwork);
  }

  [[nodiscard]] double again_of(double forward) const {
    return plan_.checkpointing ? std::max(0.0, term(PlanTerm::kRecompute) - 1) * forward : 0;
  }

  [[nodiscard]] double gradient_time(double params, bool outside) const {
    if (plan_.data == 1) return 0;
    const double volume =
        term(PlanTerm::kGradients) * kGradientBytes * params * (plan_.data - 1) / plan_.data;
    return volume / (outside ? between_nodes() : inside_node());
  }

  // Activations of one layer and micro-batch per byte of an element, MiB.
  [[nodiscard]] double activations() const {
    return term(PlanTerm::kActivations) * static_cast<double>(work_.shape.seq) *
           static_cast<double>(work_.shape.hidden) * micro_ / kMi;
  }

  [[nodiscard]] double tensor_time(double turns) const {
    const double layers = static_cast<double>(work_.shape.layers) / plan_.pipeline;
    return kTensorBytes * activations() * layers * turns * (plan_.tensor - 1) / plan_.tensor /
           inside_node();
  }

  [[nodiscard]] double pipeline_time() const {
    if (plan_.pipeline == 1) return 0;
    return kPipelineBytes * activations() * plan_.steps * plan_.pipeline / plan_.tensor /
           (configuration_.nodes > 1 ? between_nodes() : inside_node());
  }

  [[nodiscard]] StepParts with_sum(StepParts parts) const {
    parts.step = parts.forward + parts.tail + parts.optimiser + term(PlanTerm::kStep);
    return parts;
  }

  const PlanTerms& terms_;
  const PlanEnvironment& environment_;
  const ExecutionPlan& plan_;
  const PlanConfiguration& configuration_;
  const PlanWork& work_;
  double params_ = 0;   ///< 2^20
  double micro_ = 0;    ///< samples of a micro-batch
  double forward_ = 0;  ///< forward pass of a micro-batch through the whole model on one GPU, ms
};

}  // namespace

PlanEnvironment linked_by(double gb_per_s) {
  PlanEnvironment environment;
  environment.intra *= gb_per_s / kPublishedLink;
  return environment;
}

std::string_view name_of(PlanTerm term) { return kNames.at(static_cast<std::size_t>(term)); }

double overlapped(double k, double x, double y) {
  const double more = std::max(x, y);
  const double less = std::min(x, y);
  if (!(less > 0)) return more;
  // Scaled by the larger one, so that no power overflows.
  return more * std::pow(1 + std::pow(less / more, k), 1 / k);
}

StepParts step_parts(const PlanTerms& terms, const PlanEnvironment& environment,
                     const ExecutionPlan& plan, const PlanConfiguration& configuration,
                     const PlanWork& work) {
  const Step step(terms, environment, plan, configuration, work);
  return plan.split() ? step.family_b() : step.family_a();
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The step time of an execution plan (Zhang et al., Rubick, MLSys 2025, section 4): family A for
// data parallelism with and without ZeRO, family B for tensor and pipeline parallelism.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/hints/types.h"
#include "lib/model/plans/plan.h"

namespace rubato {

/// Bandwidths, MiB/ms. Defaults are those of the published model's nodes.
struct PlanEnvironment {
  double pcie = 64;         ///< between GPU and host
  double intra = 119.4879;  ///< of a collective within a node
  double inter = 20;        ///< of a collective between nodes
  bool known = true;        ///< `intra` is that of the GPU type, not a guess

  auto operator<=>(const PlanEnvironment&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// With GPUs of a node linked at `gb_per_s` GB/s per GPU, both directions together as vendors give
/// it. Collectives get the share of it that they get on the published model's nodes (400 GB/s).
[[nodiscard]] PlanEnvironment linked_by(double gb_per_s);

/// The fitted terms. The first seven are the published ones. Times in ms; model parameters in units
/// of 2^20. All are at least 0.
enum class PlanTerm {
  kBackward,        ///< k_bwd: backward pass, in forward passes
  kOverlap,         ///< k_sync: exponent of the overlap of backward pass and gradient exchange
  kOptimiser,       ///< k_opt: optimiser on the GPU, ms for 2^20 parameters
  kHostOptimiser,   ///< k_opt_off: on the host, ms x cores for 2^20 parameters
  kStep,            ///< k_const: ms in every step
  kOffload,         ///< k_off: ms in every offloaded gradient exchange
  kSwap,            ///< k_swap: ms in every offloaded optimiser step
  kOptimiserFixed,  ///< optimiser on the GPU, the part independent of the parameters, ms
  kForwardSample,   ///< forward pass of one sample, ms
  kForwardFixed,    ///< forward pass of a micro-batch, the part independent of its samples, ms
  kRecompute,       ///< forward passes of a step with gradient checkpointing
  kTensorLoss,      ///< share of the forward pass that each doubling of the tensor degree adds
  kNetwork,         ///< bandwidth between nodes, as a multiple of the environment's
  kGradients,       ///< volume of the gradients, as a multiple of the published one
  kActivations,     ///< volume of exchanged activations, as a multiple of the published one
  kLinks,           ///< bandwidth within a node, as a multiple of the environment's
};
inline constexpr std::size_t kPlanTerms = 16;
using PlanTerms = std::array<double, kPlanTerms>;

/// Published and stored names: "k_bwd", "k_sync", ...
[[nodiscard]] std::string_view name_of(PlanTerm term);

/// A step, in ms. `tail` and `optimiser` are the parts that profilers show: from the end of the
/// forward pass to the end of the gradient exchange, and from there to the end of the update.
struct StepParts {
  double forward = 0;
  double tail = 0;
  double optimiser = 0;
  double step = 0;
};

/// Input of the time besides terms, plan and configuration.
struct PlanWork {
  ModelShape shape;  ///< if hidden, layers or seq is 0, activations count as 0
  std::int64_t batch = 1;
};

/// x and y overlapped: their sum for k = 1, the larger one for infinite k; both at least 0.
[[nodiscard]] double overlapped(double k, double x, double y);

/// For a plan whose degrees multiply to the GPUs of the configuration. Finite and not negative for
/// finite terms. Extensions of the published formulas: the forward pass of a micro-batch is linear
/// in its samples. ZeRO reduces in the backward pass and gathers after the update, half of the
/// volume each. TP exchanges the activations of a stage's own layers. A pipeline of p stages takes
/// M + p - 1 turns for M micro-batches.
[[nodiscard]] StepParts step_parts(const PlanTerms& terms, const PlanEnvironment& environment,
                                   const ExecutionPlan& plan,
                                   const PlanConfiguration& configuration, const PlanWork& work);

}  // namespace rubato

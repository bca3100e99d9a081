// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_memory.h"

#include <algorithm>

namespace rubato {
namespace {

constexpr double kMiB = 1048576;
constexpr double kStates = 16;  ///< bytes per parameter: 2 + 2 halves, 12 of Adam and the master
                                ///< copy
constexpr double kWeights = 2;  ///< the part of kStates that every rank of ZeRO holds
constexpr double kFrameworkMiB = 1536;
constexpr double kBucketMiB = 512;  ///< transfer buffer of ZeRO-Offload for gradients and
                                    ///< parameters
constexpr double kUsable = 0.92;

double states_bytes(const ExecutionPlan& plan, double params) {
  switch (plan.zero) {
    case Zero::kNone:
      return kStates * params / plan.tensor / plan.pipeline;
    case Zero::kSharded:
      return kWeights * params + (kStates - kWeights) * params / plan.data;
    case Zero::kOffload:
      return kWeights * params + kBucketMiB * kMiB;
  }
  return 0;
}

// Activations of one micro-batch in one layer.
double layer_bytes(const ExecutionPlan& plan, const ModelShape& shape, double micro) {
  const auto s = static_cast<double>(shape.seq);
  const auto h = static_cast<double>(shape.hidden);
  const double t = plan.tensor;
  return s * micro * h * (10 + 24 / t + 5 * static_cast<double>(shape.heads) * s / (h * t));
}

double activation_bytes(const ExecutionPlan& plan, const ModelShape& shape, double micro) {
  const double layers = static_cast<double>(shape.layers) / plan.pipeline;
  const double held = std::min(plan.pipeline, plan.steps);
  const double layer = layer_bytes(plan, shape, micro);
  if (!plan.checkpointing) return layer * layers * held;
  // The input of each layer, plus one recomputed layer.
  const double input =
      2 * static_cast<double>(shape.seq) * micro * static_cast<double>(shape.hidden);
  return input * layers * held + layer;
}

}  // namespace

PlanMemory memory_of(const ExecutionPlan& plan, const PlanConfiguration& configuration,
                     const ModelShape& shape, std::int64_t batch) {
  const auto params = static_cast<double>(shape.params);
  PlanMemory need;
  need.activations_known = shape.whole();
  need.gpu_mib = states_bytes(plan, params) / kMiB + kFrameworkMiB;
  if (need.activations_known) {
    const double micro = static_cast<double>(batch) / plan.data / plan.steps;
    need.gpu_mib += activation_bytes(plan, shape, micro) / kMiB;
  }
  if (plan.zero == Zero::kOffload) {
    const double rank =
        (kStates - kWeights) * params / plan.data / kMiB + 2 * kBucketMiB;  // pinned, both ways
    need.host_mib = rank * configuration.max_per_node();
  }
  return need;
}

bool fits(const PlanMemory& need, const MemoryLimits& limits) {
  if (limits.gpu_mib > 0 && need.gpu_mib > kUsable * static_cast<double>(limits.gpu_mib)) {
    return false;
  }
  return limits.host_mib <= 0 || need.host_mib <= static_cast<double>(limits.host_mib);
}

}  // namespace rubato

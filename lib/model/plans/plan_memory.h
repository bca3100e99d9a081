// SPDX-License-Identifier: GPL-2.0-or-later
// The memory that an execution plan needs on a GPU and on the host.
#pragma once

#include <cstdint>

#include "lib/hints/types.h"
#include "lib/model/plans/plan.h"

namespace rubato {

struct PlanMemory {
  double gpu_mib = 0;              ///< of the fullest GPU
  double host_mib = 0;             ///< of the job, on the fullest node
  bool activations_known = false;  ///< the shape is complete; else activations are not counted
};

/// Available memory, MiB; 0 if unknown: no limit.
struct MemoryLimits {
  std::int64_t gpu_mib = 0;
  std::int64_t host_mib = 0;  ///< of the job on one node

  auto operator<=>(const MemoryLimits&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Training with Adam in mixed precision takes 16 bytes per parameter. ZeRO-2 shards 14 of them,
/// and ZeRO-Offload holds those 14 on the host (Rajbhandari et al., ZeRO, SC 2020, section 3;
/// ZeRO-Offload, ATC 2021). Activations of a transformer layer after Korthikanti et al., Reducing
/// Activation Recomputation, MLSys 2023, eq. 2. The first stage of a pipeline holds as many
/// micro-batches as there are stages.
[[nodiscard]] PlanMemory memory_of(const ExecutionPlan& plan,
                                   const PlanConfiguration& configuration, const ModelShape& shape,
                                   std::int64_t batch);

/// Reserves 8 % of a GPU for fragmentation and the framework itself.
[[nodiscard]] bool fits(const PlanMemory& need, const MemoryLimits& limits);

}  // namespace rubato

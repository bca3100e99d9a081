// SPDX-License-Identifier: GPL-2.0-or-later
// The memory that an execution plan needs on a GPU and on the host.
#pragma once

#include <cstdint>

#include "lib/hints/types.h"
#include "lib/model/plans/plan.h"

namespace rubato {

struct PlanMemory {
  double gpu_mib = 0;              ///< of one GPU, the fullest
  double host_mib = 0;             ///< of the job on the fullest node
  bool activations_known = false;  ///< the shape is whole; else they are not counted
};

/// Memory there is, MiB; 0 where it is not known and refuses nothing.
struct MemoryLimits {
  std::int64_t gpu_mib = 0;
  std::int64_t host_mib = 0;  ///< of the job on one node

  auto operator<=>(const MemoryLimits&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Training with Adam in mixed precision: 16 bytes a parameter, of which ZeRO-2 shards 14 and
/// ZeRO-Offload holds those 14 on the host (Rajbhandari et al., ZeRO, SC 2020, section 3;
/// ZeRO-Offload, ATC 2021); activations of a transformer layer after Korthikanti et al., Reducing
/// Activation Recomputation, MLSys 2023, eq. 2. The first stage of a pipeline holds as many
/// micro-batches as there are stages.
[[nodiscard]] PlanMemory memory_of(const ExecutionPlan& plan,
                                   const PlanConfiguration& configuration, const ModelShape& shape,
                                   std::int64_t batch);

/// Leaves 8 % of a GPU for fragmentation and the framework itself.
[[nodiscard]] bool fits(const PlanMemory& need, const MemoryLimits& limits);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The GPUs of a snapshot by type: held, free, and how scattered the free ones are.
#pragma once

#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato::tools {

/// GPUs of one type. total = held + free + out.
struct GpuTypeUse {
  std::string type;  ///< "" where gres.conf names none
  int nodes = 0;
  int total = 0;
  int held = 0;      ///< allocated to jobs
  int free = 0;      ///< not allocated, on nodes in service
  int out = 0;       ///< not allocated, on nodes that are down or drained
  int whole = 0;     ///< of `free`: on nodes of which no GPU is held
  int largest = 0;   ///< most free GPUs on one node
  int starved = 0;   ///< of `free`: on nodes without a free core or free memory
  double price = 0;  ///< in mode elastic, relative to the mean of all types; 0: none is scarce

  /// Share of the free GPUs that are on partly held nodes, 0 to 1.
  [[nodiscard]] double scattered() const;
  bool operator==(const GpuTypeUse&) const = default;
};

/// By type. `plan` is null where it is not known; then prices are 0. Without nodes (PrivateData)
/// there is nothing.
[[nodiscard]] std::vector<GpuTypeUse> gpu_use(const Snapshot& snapshot, const Plan* plan);

}  // namespace rubato::tools

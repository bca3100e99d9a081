// SPDX-License-Identifier: GPL-2.0-or-later
// What the predict stage gives to the stages after it.
#pragma once

#include <vector>

#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/need.h"

namespace rubato {

/// Forecasts for the jobs and the GPU types of one round.
struct Forecasts {
  std::vector<double> speeds;    ///< relative speed by TypeId, above 0, over all jobs
  std::vector<TypeId> fastest;   ///< all types, fastest first; equally fast ones by name
  std::vector<Service> service;  ///< attained service of managed jobs with GPUs, sorted by key
  std::vector<JobNeed> needs;    ///< of pending managed jobs with GPUs, sorted by key
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the tables of the job scalability analyser from reports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/model/data_parallel/best_batch.h"
#include "lib/model/row_samples.h"

namespace rubato {

/// Scaling of an elastic job by its tables.
struct BatchScaling {
  std::optional<JobScalability> analysed{};  ///< none: see `missing`
  int max_gpus = 0;           ///< maximum size: twice the maximum with measured communication; 1 if
                              ///< there is none
  std::size_t batches = 0;    ///< number of local batches with a time on one device
  std::size_t links = 0;      ///< number of all-reduces with a time
  double gradient_bytes = 0;  ///< of the job; 0: unknown shape, so only the job's own all-reduces
                              ///< are used
  std::vector<std::string> missing{};  ///< missing reports, one sentence each
};

/// `own`: rows of the profile on `gpu_type`; `all`: sorted by row_before(). The time of a local
/// batch is that of one GPU, or a step minus its reported synchronisation. An all-reduce takes the
/// reported synchronisation, or the step minus one device's time for that local batch. All-reduces
/// of other profiles on the GPU type count if `shapes` has both (4 bytes per parameter), each job
/// on the fewest nodes. Beyond the measurements, an equally fast ring extrapolates. `range`: of the
/// global batch.
[[nodiscard]] BatchScaling batch_scaling(rows::Rows own, rows::Rows all, const Batch& range,
                                         int max_gpus, const std::optional<ModelShape>& shape,
                                         const std::map<std::string, ModelShape>& shapes = {});

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of the job scalability analyser, from reports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/model/data_parallel/best_batch.h"
#include "lib/model/row_samples.h"

namespace rubato {

/// How an elastic job scales by its tables.
struct BatchScaling {
  std::optional<JobScalability> analysed{};  ///< none: see `missing`
  int max_gpus = 0;           ///< it answers up to so many: twice the most that communication was
                              ///< measured on, 1 where it never was
  std::size_t batches = 0;    ///< of one device: local batches with a time
  std::size_t links = 0;      ///< all-reduces with a time
  double gradient_bytes = 0;  ///< of the job; 0: its shape is not known, and its own all-reduces
                              ///< are all that counts
  std::vector<std::string> missing{};  ///< missing reports: a sentence each
};

/// `own`: rows of the profile on `gpu_type`; `all`: sorted by row_before(). A device's time of a
/// local batch is that of one GPU, or of a step less its reported synchronisation; an all-reduce
/// takes the reported synchronisation, or what a step takes longer than a device with that local
/// batch. All-reduces of other profiles on the GPU type count where `shapes` has both (4 bytes a
/// parameter), each job at as few nodes as it needs. Beyond what was measured a ring as fast as
/// those goes on. `range`: of the global batch.
[[nodiscard]] BatchScaling batch_scaling(rows::Rows own, rows::Rows all, const Batch& range,
                                         int max_gpus, const std::optional<ModelShape>& shape,
                                         const std::map<std::string, ModelShape>& shapes = {});

}  // namespace rubato

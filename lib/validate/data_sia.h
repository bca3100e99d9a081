// SPDX-License-Identifier: GPL-2.0-or-later
// Reads measured step times and gradient statistics of data-parallel training, in the layout of the
// Sia and Pollux artifacts (SOSP 2023, OSDI 2021).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// A measured configuration.
struct SiaStep {
  std::vector<int> placement;  ///< GPUs on each node; empty if not in the file
  int nodes = 1;
  int gpus = 1;
  double local_batch = 0;  ///< samples per GPU
  double step_time = 0;    ///< seconds per iteration, above 0
  double sync_time = 0;    ///< seconds of gradient synchronisation
};

/// An application on one GPU type.
struct SiaProfile {
  std::string gpu_type;              ///< suffix of the file names
  std::vector<SiaStep> placements;   ///< from placements-TYPE.csv, in file order
  std::vector<SiaStep> scalability;  ///< from scalability-TYPE.csv, in file order; may be empty
};

/// An epoch of training at one batch.
struct SiaEpoch {
  double progress = 0;  ///< iterations at the smallest batch for the same progress
  std::int64_t iterations = 0;
  double metric = 0;
  double grad_sqr = 0;  ///< squared length of the gradient
  double grad_var = 0;  ///< variance of the gradient at the smallest batch
};

/// A row of validation-BATCH.csv.
struct SiaTraining {
  std::int64_t batch = 0;  ///< global
  std::vector<SiaEpoch> epochs;
};

struct SiaApp {
  std::string name;
  std::vector<SiaProfile> profiles;    ///< sorted by GPU type
  std::vector<SiaTraining> trainings;  ///< sorted by batch
};

struct SiaData {
  std::vector<SiaApp> apps;  ///< sorted by name
  /// The distinct GPU types, sorted. Two types that share all rows of an application are one
  /// measurement. The one with most applications, then most rows, represents both. A file without a
  /// type is a copy if another has its rows.
  std::vector<std::string> gpu_types;
};

/// All applications of DIR/sia/traces: folders with placements-TYPE.csv. Ignores everything else
/// there. Errors name file, line and column.
[[nodiscard]] Result<SiaData> read_sia(const std::string& data_dir);
/// The same for a folder of that layout.
[[nodiscard]] Result<SiaData> read_sia_traces(const std::string& folder);

}  // namespace rubato

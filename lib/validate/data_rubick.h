// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the measurements of execution plans that the authors of Rubick published.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/plans/plan_fit.h"

namespace rubato {

/// A step to which the authors fitted their model; all on one node.
struct RubickFitRow {
  PlanSample sample;  ///< all parts are known
  double params_mi = 0;
};

/// Folder perf_model_validation/NAME.
struct RubickFitSet {
  std::string name;
  std::vector<RubickFitRow> rows;  ///< at least one, in file order
};

/// A measured step of a profile.
struct RubickProfileRow {
  std::string plan_name;  ///< as in the file
  std::string placement;  ///< one digit per node: its GPUs
  PlanSample sample;      ///< batch 1: the file has none
  std::size_t line = 0;   ///< in the file
};

/// Folder profiles/NAME. Omits unmeasured rows (0).
struct RubickProfile {
  std::string name;
  std::vector<RubickProfileRow> rows;
};

/// Both sorted by name.
struct RubickData {
  std::vector<RubickFitSet> fit_sets;
  std::vector<RubickProfile> profiles;
};

/// `folder` contains perf_model_validation and profiles. An error names file, line and column, and
/// what was expected there. Parts of a step are in milliseconds in some files and in seconds in
/// others. The unit in which they sum to the step is used. Parts that miss the sum by more than a
/// fifth count as unknown.
[[nodiscard]] Result<RubickData> read_rubick(const std::string& folder);

/// The plan named in a row of a profile, on `gpus` GPUs: ga (plain data parallel; unknown number of
/// micro-batches), gc, zero-dp, zero-offload, tp, joined by "+". Or three digits, the degrees of
/// pipeline, tensor and data parallelism. The files show this order: the optimiser's time decreases
/// with the first two digits and not with the third.
[[nodiscard]] Result<ExecutionPlan> rubick_plan(const std::string& name, int gpus);

}  // namespace rubato

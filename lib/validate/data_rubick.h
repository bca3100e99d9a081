// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the measurements of execution plans that the authors of Rubick published.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/plans/plan_fit.h"

namespace rubato {

/// A step that the authors fitted their model to; all on one node.
struct RubickFitRow {
  PlanSample sample;  ///< all parts are known
  double params_mi = 0;
};

/// Folder perf_model_validation/NAME.
struct RubickFitSet {
  std::string name;
  std::vector<RubickFitRow> rows;  ///< at least one, in the order of the file
};

/// A measured step of a profile.
struct RubickProfileRow {
  std::string plan_name;  ///< as the file has it
  std::string placement;  ///< a digit a node: its GPUs
  PlanSample sample;      ///< batch 1: the file does not say it
  std::size_t line = 0;   ///< of the file
};

/// Folder profiles/NAME. Rows that were not measured (0) are left out.
struct RubickProfile {
  std::string name;
  std::vector<RubickProfileRow> rows;
};

/// Each sorted by name.
struct RubickData {
  std::vector<RubickFitSet> fit_sets;
  std::vector<RubickProfile> profiles;
};

/// `folder` holds perf_model_validation and profiles. An error names file, line and column, and
/// what was expected there. Parts of a step are milliseconds in some files and seconds in others:
/// what makes their sum the step is taken. Parts that do not add up to it within a fifth are
/// taken for not known.
[[nodiscard]] Result<RubickData> read_rubick(const std::string& folder);

/// The plan that a row of a profile names, on `gpus` GPUs: ga (plain data parallel; the number of
/// micro-batches is not told), gc, zero-dp, zero-offload, tp, joined by "+"; or three digits, the
/// degrees of pipeline, tensor and data parallelism. That this is their order is seen in the files:
/// the time of the optimiser goes down with the first two digits and not with the third.
[[nodiscard]] Result<ExecutionPlan> rubick_plan(const std::string& name, int gpus);

}  // namespace rubato

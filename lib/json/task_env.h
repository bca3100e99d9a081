// SPDX-License-Identifier: GPL-2.0-or-later
// What a job hears through its environment about the start that Rubato gave it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/core/job.h"
#include "lib/json/job_annotation.h"

namespace rubato {

/// Names, all of kTaskVariables (lib/hints/task_variables.h), and values, in the order of
/// rubato_plugins(8).
using TaskEnv = std::vector<std::pair<std::string, std::string>>;

/// How a job is to run, where that was chosen for it.
struct ChosenRun {
  std::string plan{};                                   ///< execution plan; "": as submitted
  std::int64_t batch = 0;                               ///< global batch; 0: as submitted
  RestartReason restart_reason = RestartReason::kNone;  ///< Start::restart_reason
  int resizes = 0;                                      ///< Start::resizes
  std::vector<GpuSpeed> speeds{};                       ///< Start::speeds
};

/// Of a start of `job` on `held` GPUs. What is not known has no variable, nor has a range of
/// batches of which none was chosen: the job then runs with the batch that its script has.
[[nodiscard]] TaskEnv task_env(const Job& job, const HeldGpus& held, const ChosenRun& run = {});

/// The samples of a global batch for each GPU, in the order of `groups`, so that all GPUs take
/// equally long (proportional split). They add up to `batch`: what rounding leaves goes to the GPUs
/// with the largest remainder, the first of equal ones. Empty if a speed is not known or a GPU
/// would get none.
[[nodiscard]] std::vector<std::int64_t> batch_shares(std::int64_t batch,
                                                     const std::vector<GpuCount>& groups,
                                                     const std::vector<GpuSpeed>& speeds);

/// The execution plan that the job said it runs: one kind only, or "".
[[nodiscard]] std::string plan_of(const Job& job);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The real history in the output of `rubato simulate --from-sacct`.
#pragma once

#include <string>
#include <vector>

#include "tools/rubato/simulate/simulate_view.h"

namespace rubato::tools {

/// The real history as a run; charts omit GPUs of jobs with unknown type.
[[nodiscard]] SimulatedRun real_run(const sim::Suite& suite);

/// Sentences: what was left out or changed, and how far the replay of stock Slurm differs from the
/// real history. `runs` begins with real_run().
[[nodiscard]] std::vector<std::string> history_notes(const std::vector<SimulatedRun>& runs,
                                                     const sim::Suite& suite);

}  // namespace rubato::tools

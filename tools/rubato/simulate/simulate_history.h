// SPDX-License-Identifier: GPL-2.0-or-later
// The real history in the output of `rubato simulate --from-sacct`.
#pragma once

#include <string>
#include <vector>

#include "tools/rubato/simulate/simulate_view.h"

namespace rubato::tools {

/// What really happened, beside the runs; GPUs of jobs whose type is not told are in no chart.
[[nodiscard]] SimulatedRun real_run(const sim::Suite& suite);

/// Sentences: what was left out or taken otherwise, and how far the replay of stock Slurm is from
/// what really happened. `runs` begins with real_run().
[[nodiscard]] std::vector<std::string> history_notes(const std::vector<SimulatedRun>& runs,
                                                     const sim::Suite& suite);

}  // namespace rubato::tools

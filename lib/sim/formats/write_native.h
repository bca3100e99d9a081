// SPDX-License-Identifier: GPL-2.0-or-later
// Writes workloads in the simulator's own format.
#pragma once

#include <string>

#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// The jobs in the form that read_native_suite() reads without profiles. The same cluster then
/// gives the same jobs, throughputs and metrics. Fails if a job does not describe the time of its
/// iterations: the format has no column for its throughput.
[[nodiscard]] Result<std::string> native_text(const Suite& suite);

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
// Workloads as files of the simulator's own format.
#pragma once

#include <string>

#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// The jobs as read_native_suite() takes them, without profiles: it gives the same jobs and speeds,
/// and so the same figures, on the same cluster. An error where a job does not say itself where the
/// time of its iterations goes: its speed is in no file of this format then.
[[nodiscard]] Result<std::string> native_text(const Suite& suite);

}  // namespace rubato::sim

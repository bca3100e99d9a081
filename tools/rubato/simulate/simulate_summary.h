// SPDX-License-Identifier: GPL-2.0-or-later
// `simulate` in the list of commands, for the two programs that have it.
#pragma once

namespace rubato::tools {

inline constexpr const char* kSimulateName = "simulate";
inline constexpr const char* kSimulateSummary = "Simulate a workload and compare policies";

}  // namespace rubato::tools

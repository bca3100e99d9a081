// SPDX-License-Identifier: GPL-2.0-or-later
// Names and summaries of the commands that `rubato` lists and rubato-simulate carries out.
#pragma once

namespace rubato::tools {

inline constexpr const char* kSimulateName = "simulate";
inline constexpr const char* kSimulateSummary = "Simulate a workload and compare policies";
inline constexpr const char* kValidateName = "validate";
inline constexpr const char* kValidateSummary = "Errors of the models on published measurements";

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// The report of `rubato simulate`: one HTML file that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "tools/rubato/simulate/simulate_view.h"

namespace rubato::tools {

/// Contents of the page besides the runs.
struct PageFacts {
  std::string command;             ///< as it was typed
  std::string schema;              ///< of its JSON
  std::string version;             ///< of Rubato
  std::vector<std::string> notes;  ///< sentences about the workload
};

/// The runs of each suite with their charts; `runs` have segments (RunControl::intervals). Same
/// input, same bytes: wall times of decisions are left out. Charts over time show means of equal
/// parts, and where runs have more pieces than a page can carry the shortest are left out; both are
/// said on the page.
[[nodiscard]] std::string simulate_page(const std::vector<SimulatedRun>& runs,
                                        const std::vector<sim::Suite>& suites,
                                        const PageFacts& facts);

}  // namespace rubato::tools

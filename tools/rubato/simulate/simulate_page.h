// SPDX-License-Identifier: GPL-2.0-or-later
// The report of `rubato simulate`: one self-contained HTML file.
#pragma once

#include <string>
#include <vector>

#include "tools/rubato/simulate/simulate_view.h"

namespace rubato::tools {

/// Contents of the page besides the runs.
struct PageFacts {
  std::string command;             ///< as typed
  std::string schema;              ///< of its JSON
  std::string version;             ///< of Rubato
  std::vector<std::string> notes;  ///< sentences about the workload
  std::string history;             ///< HTML: waits of a site's history
};

/// The runs of each suite with their charts; `runs` need intervals (RunControl::intervals).
/// Deterministic: wall times of decisions are omitted. Charts over time show means of equal bins.
/// The shortest bars are dropped if there are too many for a page. The page mentions both.
[[nodiscard]] std::string simulate_page(const std::vector<SimulatedRun>& runs,
                                        const std::vector<sim::Suite>& suites,
                                        const PageFacts& facts);

}  // namespace rubato::tools

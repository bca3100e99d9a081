// SPDX-License-Identifier: GPL-2.0-or-later
// Gantt charts in the report of `rubato simulate`, which its script draws: see simulate_gantt.js.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/rubato/simulate/simulate_charts.h"
#include "tools/shared/output.h"

namespace rubato::tools {

/// Leaves the shortest bars out where there are more than a page can carry.
void thin_out(std::vector<PageSuite>& suites);

/// A chart a run, and what it does not show.
[[nodiscard]] std::string gantts(const PageSuite& suite);

/// Data for the script simulate_gantt.js.
[[nodiscard]] Json suite_data(const PageSuite& suite);
[[nodiscard]] Json run_data(const PageSuite& suite, const PageRun& run, std::size_t suite_number);

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// Data of Gantt charts in the report of `rubato simulate`; simulate_gantt.js draws them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/rubato/simulate/simulate_charts.h"
#include "tools/shared/output.h"

namespace rubato::tools {

/// Drops the shortest bars if there are too many for a page.
void thin_out(std::vector<PageSuite>& suites);

/// One chart per run, with remarks on what it omits.
[[nodiscard]] std::string gantts(const PageSuite& suite);

/// Data for simulate_gantt.js.
[[nodiscard]] Json suite_data(const PageSuite& suite);
[[nodiscard]] Json run_data(const PageSuite& suite, const PageRun& run, std::size_t suite_number);

}  // namespace rubato::tools

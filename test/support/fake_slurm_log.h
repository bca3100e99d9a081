// SPDX-License-Identifier: GPL-2.0-or-later
// Takes the place of slurmctld's log for plugin code that is tested without slurmctld.
#pragma once

#include <string>
#include <vector>

namespace rubato::test {

/// Every line logged since the last clear_log(). From any thread.
[[nodiscard]] std::vector<std::string> logged();
void clear_log();

}  // namespace rubato::test

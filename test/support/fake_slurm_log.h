// SPDX-License-Identifier: GPL-2.0-or-later
// Replaces slurmctld's log for plugin code in tests without slurmctld.
#pragma once

#include <string>
#include <vector>

namespace rubato::test {

/// Every line logged since the last clear_log(). Thread-safe.
[[nodiscard]] std::vector<std::string> logged();
void clear_log();

}  // namespace rubato::test

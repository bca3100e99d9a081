// SPDX-License-Identifier: GPL-2.0-or-later
// How times and lists are written for people.
#pragma once

#include <string>
#include <vector>

#include "lib/core/units.h"

namespace rubato {

/// A length of time as Slurm writes it: "01:10:00", "2-00:00:00"; "unlimited" from kForever on.
/// Below 0 counts as 0.
[[nodiscard]] std::string duration_text(Seconds length);

/// The first `at_most` words with commas between them, then "and N more".
[[nodiscard]] std::string list_text(const std::vector<std::string>& words, std::size_t at_most);

}  // namespace rubato

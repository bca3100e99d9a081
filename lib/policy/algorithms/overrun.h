// SPDX-License-Identifier: GPL-2.0-or-later
// Users whose jobs ran past the work that their hints state.
#pragma once

#include <vector>

#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// For how long an overrun counts after it was last seen.
inline constexpr Seconds kOverrunCounts = 86400;

/// The overruns after this round, sorted by uid. A running job overruns if its last report has
/// more than 1.25 times the stated samples. A job that never reported overruns if it has run for 5
/// minutes and for three times its stated work at the forecast throughput. Jobs of root do not
/// count.
[[nodiscard]] std::vector<UserOverrun> next_overruns(const RoundInput& input);

/// Null if no job of that user overran in the last kOverrunCounts. `overruns` is sorted by uid.
[[nodiscard]] const UserOverrun* overrun_of(const std::vector<UserOverrun>& overruns,
                                            std::uint32_t uid, Seconds now);

}  // namespace rubato

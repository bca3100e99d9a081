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

/// The overrun for which the stated work of a pending job does not count: one of its user in the
/// last kOverrunCounts. Else null.
[[nodiscard]] const UserOverrun* past_overrun(const RoundInput& input, const Job& job);

}  // namespace rubato

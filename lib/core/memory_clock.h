// SPDX-License-Identifier: GPL-2.0-or-later
// Times in the memory of earlier rounds, held against a clock that was set back.
#pragma once

#include "lib/core/snapshot.h"

namespace rubato {

/// The clock says `now`, and the memory has later times: it was set back meanwhile, or the state
/// file is of a machine that was ahead. Taken as they are they would count as not yet come: a
/// refused start would not be tried, a job would not have waited. What is later than `now` becomes
/// `now`; forecasts made later are forgotten. The start of a reservation is meant to be later and
/// stays. The number of times that were set.
int set_back(Memory& memory, Seconds now);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Corrects times in the memory of earlier rounds after the clock was set back.
#pragma once

#include "lib/core/snapshot.h"

namespace rubato {

/// Sets times in `memory` that are later than `now` to `now`, removes forecasts made later, and
/// returns the number of changed times. Such times occur if the clock was set back, or if the state
/// file comes from a machine whose clock was ahead. Without the change, refused starts would not be
/// tried again and jobs would not count as waiting. The start of a reservation stays as it is.
int set_back(Memory& memory, Seconds now);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// What changes of jobs cost where nothing was measured.
#pragma once

#include "lib/config/config.h"
#include "lib/core/snapshot.h"

namespace rubato {

/// Fills in Job::costs and Job::starting by RestartCost and the hints of each job. A restart costs
/// RestartCost, in which the job starts and reads its checkpoint; the job works during its lead
/// time. A change of size counts as a restart, since a job grows by one.
void fill_change_costs(Snapshot& snapshot, const Config& config);

}  // namespace rubato

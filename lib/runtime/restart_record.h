// SPDX-License-Identifier: GPL-2.0-or-later
// Restarts that are on the disk before slurmctld requeues their jobs. state.json is about two
// seconds older than a kill of slurmctld: without this record a job that was requeued since starts
// as any other, at its submitted size.
#pragma once

#include <string>

#include "lib/core/snapshot.h"

namespace rubato {

/// Writes STATE/restarts.json: `next`, whose job is requeued after this, and the restarts of
/// `memory` that were requeued and have not started. They survive a power failure. Takes two
/// fsync(), so no lock of slurmctld may be held. Returns what went wrong, empty if nothing.
[[nodiscard]] std::string keep_restarts(const std::string& state_dir, const AskedResize& next,
                                        const Memory& memory, const Snapshot& snapshot);

/// Once, after state.json was read into `memory`: adds the restarts of the file that it lacks or
/// has in an earlier step. What is older than the time for which a place is kept is left out, and
/// so is a restart whose job runs again. A damaged or missing file changes nothing.
void recall_restarts(const std::string& state_dir, const Snapshot& snapshot, Memory& memory);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about the slurmctld that loaded us, and the few calls the loop makes outside a round.
#pragma once

#include <string>

#include "lib/base/units.h"
#include "lib/core/snapshot.h"

namespace rubato {

[[nodiscard]] std::string state_save_location();
/// The folder of slurm.conf.
[[nodiscard]] std::string config_folder();
[[nodiscard]] std::string plugin_dir();
/// This slurmctld only tests its configuration, or schedules nothing (a front-end of another).
[[nodiscard]] bool scheduling_disabled();
[[nodiscard]] bool shutting_down();

/// When jobs, nodes, partitions, reservations or the configuration last changed: a value to
/// compare with an earlier one. Read without locks; a change that is missed is seen at the next
/// look.
struct ChangeMark {
  Seconds jobs = 0;
  Seconds nodes = 0;
  Seconds partitions = 0;
  Seconds config = 0;

  bool operator==(const ChangeMark&) const = default;
};
[[nodiscard]] ChangeMark change_mark();

/// How many nodes are completing or booting. Under the node read lock.
[[nodiscard]] int coming_nodes();

/// slurmctld serves no request at this moment. Read without a lock: a hint, not a promise.
[[nodiscard]] bool quiet();

/// PrivateData of slurm.conf. Under the configuration read lock.
[[nodiscard]] PrivateData private_data();

/// Has slurmctld write the records of jobs and nodes soon, as schedule() does after a start
/// (job_scheduler.c): without it a start is in no file until something else has them written.
void save_soon();

/// Asks stock schedule() to run soon.
void wake_stock_scheduler();

}  // namespace rubato

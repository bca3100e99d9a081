// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about the slurmctld that loaded the plugin, and the few calls that the loop makes outside a
// round.
#pragma once

#include <cstdint>
#include <string>

#include "lib/base/units.h"
#include "lib/core/snapshot.h"

namespace rubato {

[[nodiscard]] std::string state_save_location();
/// The folder of slurm.conf.
[[nodiscard]] std::string config_folder();
[[nodiscard]] std::string plugin_dir();
/// True if this slurmctld only tests its configuration or does not schedule (a front-end of
/// another).
[[nodiscard]] bool scheduling_disabled();
[[nodiscard]] bool shutting_down();
/// `scontrol reconfigure` started this process (from 24.11 on), which goes on with the jobs of the
/// one before.
[[nodiscard]] bool reconfigured();

/// Times at which jobs, nodes, partitions, reservations or the configuration last changed, for
/// comparison with earlier values. Read without locks; the next look sees a change that was missed.
struct ChangeMark {
  Seconds jobs = 0;
  Seconds nodes = 0;
  Seconds partitions = 0;
  Seconds config = 0;

  bool operator==(const ChangeMark&) const = default;
};
[[nodiscard]] ChangeMark change_mark();

/// Number of completing or booting nodes. Needs the node read lock.
[[nodiscard]] int coming_nodes();

/// True if slurmctld serves no request now. Read without a lock: only a hint.
[[nodiscard]] bool quiet();

/// The number after `name` ("bf_min_age_reserve=") in SchedulerParameters; 0 without one.
[[nodiscard]] std::uint32_t scheduler_parameter(const char* name);
/// max_rpc_cnt of SchedulerParameters: at this many requests schedule() starts nothing; 0: no such
/// number. Needs the configuration read lock.
[[nodiscard]] int max_rpc_count();
/// Requests that slurmctld serves now, as schedule() counts them. Read without a lock.
[[nodiscard]] int rpc_count();

/// PrivateData of slurm.conf. Needs the configuration read lock.
[[nodiscard]] PrivateData private_data();

/// Tells slurmctld to save job and node records soon, as schedule() does after a start
/// (job_scheduler.c). Without it, a start is not saved until another event causes a save.
void save_soon();

/// Asks stock schedule() to run soon.
void wake_stock_scheduler();

}  // namespace rubato

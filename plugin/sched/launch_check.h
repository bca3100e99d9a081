// SPDX-License-Identifier: GPL-2.0-or-later
// Finds jobs whose launch message was lost as slurmctld started or was reconfigured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/units.h"
#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/stock/locks.h"
#include "plugin/slurm/write/ask_nodes.h"

namespace rubato {

/// A process of slurmctld that ends sends no more launch messages (Slurm: agent.c, agent()), and
/// those of a killed one are gone. A node that is reconfigured may not carry one out. slurmctld has
/// such a job as running. It learns that the job does not run when the node of the job registers
/// again, which Slurm asks of each node once in LaunchTimes::registration: half an hour with
/// SlurmdTimeout=300, more with over 1000 nodes. So this asks the nodes of the jobs that started
/// within that time before the process, and of those that started shortly before or after a
/// reconfigure.
class LaunchCheck {
 public:
  /// slurmctld was reconfigured: jobs that start about now are looked at.
  void reconfigured(Seconds now) { opened_ = now; }
  /// With each snapshot; only those right after the start of the process or a reconfigure count.
  /// Takes the lock on the configuration for those.
  void look(const Snapshot& snapshot, LockTimes& times);
  /// Asks the nodes once the jobs have had their time to start, some at a time. Nodes that do not
  /// respond are asked again, for ten minutes. Takes the locks.
  void act(const Config& config, LockTimes& times, Seconds now);

 private:
  using Entry = std::pair<Seconds, std::string>;  ///< (when to ask, node)

  void collect(const Snapshot& snapshot);
  void follow_clock(Seconds now);

  bool new_process_ = true;        ///< no snapshot was looked at yet
  std::optional<Seconds> opened_;  ///< the next snapshot is the first after a reconfigure then
  LaunchTimes launch_;             ///< of slurm.conf, as of the last start or reconfigure
  bool looks_ = false;             ///< snapshots are looked at
  Seconds since_ = 0;              ///< jobs that started before are left out,
  Seconds until_ = 0;              ///< and those that started after
  Seconds pause_until_ = 0;        ///< no message before
  Seconds last_ = 0;               ///< time of the last call
  std::map<Entry, Seconds> due_;   ///< when each is given up
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Finds jobs whose launch message was lost with the last process of slurmctld.
#pragma once

#include <string>
#include <vector>

#include "lib/base/units.h"
#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// A process of slurmctld that ends sends no more launch messages (Slurm: agent.c, agent()), and
/// those of a killed one are gone. The next process has such a job as running. It learns that the
/// job does not run when the node of the job registers again, which Slurm asks of each node once in
/// registration_period(): half an hour with SlurmdTimeout=300, more with over 1000 nodes. So this
/// asks the nodes of the jobs that started within that time before the process.
class LaunchCheck {
 public:
  /// With each snapshot; only the first one of the process counts. Needs no lock.
  void look(const Snapshot& snapshot);
  /// Asks the nodes once the jobs have had their time to start, some at a time. Nodes that do not
  /// respond are asked again, for ten minutes. Takes the locks.
  void act(const Config& config, LockTimes& times, Seconds now);

 private:
  bool looked_ = false;
  Seconds due_ = 0;
  Seconds until_ = 0;               ///< nodes that do not respond by then are given up
  std::vector<std::string> nodes_;  ///< to ask from `due_` on
};

}  // namespace rubato

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
/// those of a killed one are gone. For the next process such a job runs. It learns that the job
/// does not when the node of the job registers again, which Slurm asks of each node now and then:
/// with SlurmdTimeout=300 up to half an hour later. So this asks the nodes of the jobs that started
/// just before.
class LaunchCheck {
 public:
  /// With each snapshot; only the first one of the process counts. Needs no lock.
  void look(const Snapshot& snapshot);
  /// Asks the nodes once the jobs have had their time to start. Takes the locks.
  void act(const Config& config, LockTimes& times, Seconds now);

 private:
  bool looked_ = false;
  Seconds due_ = 0;
  std::vector<std::string> nodes_;  ///< to ask at `due_`
};

}  // namespace rubato

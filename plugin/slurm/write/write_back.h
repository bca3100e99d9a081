// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a plan to the fields that squeue and scontrol show for pending jobs.
#pragma once

#include <map>
#include <string>

#include "lib/core/plan.h"
#include "plugin/common/pair.h"

namespace rubato {

/// Writes why a managed job waits to state_desc. Writes the start and nodes of its reservation to
/// start_time and sched_nodes, for squeue and squeue --start. Writes only changes, because each
/// write makes clients read the job again.
class WriteBack {
 public:
  /// Also passes the reservations to the gate. Needs LockKind::kAct.
  void write(const Snapshot& snapshot, const Plan& plan, Pair& pair);
  /// Passes the reservations to the gate and writes nothing. Needs at least LockKind::kNodes.
  static void reserve(const Snapshot& snapshot, const Plan& plan, Pair& pair);
  /// Removes the values that earlier calls wrote to jobs. Needs LockKind::kAct.
  void clear(Pair& pair);

 private:
  struct Written {
    std::string words;
    Seconds at = 0;
    Seconds start = 0;
    std::string nodes;
  };

  bool write_job(const Job& job, const Explanation& explanation, const Reservation* reservation,
                 const std::string& nodes, Seconds now, bool asked);

  std::map<JobKey, Written> written_;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// A plan -> what squeue and scontrol show of pending jobs.
#pragma once

#include <map>
#include <string>

#include "lib/core/plan.h"
#include "plugin/common/pair.h"

namespace rubato {

/// Writes why a managed job waits into state_desc, and start and nodes of its reservation into
/// start_time and sched_nodes, so that squeue and squeue --start tell what Rubato means to do.
/// Writes only what changed, since each write makes clients read the job again.
class WriteBack {
 public:
  /// Also hands the reservations to the gate. Under LockKind::kAct.
  void write(const Snapshot& snapshot, const Plan& plan, Pair& pair);
  /// Hands the reservations to the gate and writes nothing. Under LockKind::kNodes at least.
  static void reserve(const Snapshot& snapshot, const Plan& plan, Pair& pair);
  /// Takes back what stands in jobs from earlier writes. Under LockKind::kAct.
  void clear(Pair& pair);

 private:
  struct Written {
    std::string words;
    Seconds at = 0;
    Seconds start = 0;
    std::string nodes;
  };

  bool write_job(const Job& job, const Explanation& explanation, const Reservation* reservation,
                 const std::string& nodes, Seconds now);

  std::map<JobKey, Written> written_;
};

}  // namespace rubato

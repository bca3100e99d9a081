// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a plan to the fields that squeue and scontrol show for pending jobs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/plan.h"
#include "plugin/common/pair.h"
#include "plugin/slurm/stock/locks.h"

namespace rubato {

/// Writes why a managed job waits to state_desc. Writes the start and nodes of its reservation to
/// start_time and sched_nodes, for squeue and squeue --start. Writes only changes, because each
/// write makes clients read the job again. Makes its texts without locks, and takes them itself, in
/// slices of Config::lock_slice_ms.
class WriteBack {
 public:
  /// Also passes the reservations to the gate.
  void write(const Snapshot& snapshot, const Plan& plan, const Config& config, Pair& pair,
             LockTimes& times);
  /// Passes the reservations to the gate and writes nothing.
  static void reserve(const Snapshot& snapshot, const Plan& plan, const Config& config, Pair& pair,
                      LockTimes& times);
  /// Removes the values that earlier calls wrote to jobs.
  void clear(const Config& config, Pair& pair, LockTimes& times);

 private:
  struct Written {
    std::string words;
    Seconds at = 0;
    Seconds start = 0;
    std::string nodes;
  };
  /// What one job is to show.
  struct Line {
    JobKey job;
    std::string words;
    std::string nodes;  ///< hostlist of its reservation
    Seconds start = 0;  ///< of its reservation; 0: none that may be shown
    bool reserved = false;
    Written* last = nullptr;
  };

  [[nodiscard]] std::vector<Line> lines_of(const Snapshot& snapshot, const Plan& plan,
                                           const std::vector<const Job*>& asked);
  /// Tells the gate which jobs stock backfill may plan, and which nodes are closed to them.
  static void ask(const Snapshot& snapshot, const std::vector<const Job*>& jobs,
                  const Config& config, Pair& pair, LockTimes& times);
  static bool write_job(const Line& line, Seconds now);
  static bool clear_job(const JobKey& key, const Written& last);

  std::map<JobKey, Written> written_;
};

}  // namespace rubato

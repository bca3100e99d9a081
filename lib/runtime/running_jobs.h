// SPDX-License-Identifier: GPL-2.0-or-later
// What the loop knows of the jobs that run: what their reports are joined with, and how much
// service they have had.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/json/job_annotation.h"

namespace rubato {

/// One run of a job.
struct RunFacts {
  std::string account;
  std::string partition;
  std::string job_type;        ///< "" when the job has none
  std::string plan;            ///< execution plan, "" as submitted
  std::optional<Work> work;    ///< in all, as the job says
  std::optional<Batch> batch;  ///< that it can run with, likewise
  bool managed = false;
  HeldGpus held;
  int nodes = 0;
  int cores = 0;   ///< of the whole allocation
  MiB memory = 0;  ///< likewise
  int restarts = 0;
  Seconds eligible = 0;
  Seconds start = 0;
  Seconds time_limit = 0;
  double attained = 0;       ///< GPU-seconds held since `start`
  Seconds counted = 0;       ///< up to when `attained` is counted
  std::int64_t samples = 0;  ///< done, by the last report
  Seconds recorded = 0;      ///< when its record went to the store; 0: never
  Seconds left = 0;          ///< when it was not there any more; 0: it runs
  double throughput = 0;     ///< samples/s, by the last report; 0: none
};

class RunningJobs {
 public:
  /// A job that has left is known for so long: its last report may be on the way.
  static constexpr Seconds kKeepLeft = 60;

  /// What a snapshot changed, by key.
  struct RunChanges {
    std::vector<JobKey> fresh;  ///< seen running for the first time, by key
    std::vector<JobKey> left;   ///< have stopped running
    double gpu_seconds = 0;     ///< held by managed jobs since the last snapshot
  };
  [[nodiscard]] RunChanges update(const Snapshot& snapshot);

  /// Null if no such job runs or has just ended.
  [[nodiscard]] RunFacts* find(const JobKey& key);
  [[nodiscard]] std::map<JobKey, RunFacts>& all() { return runs_; }

 private:
  std::map<JobKey, RunFacts> runs_;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// A pending job that Rubato wants to start: the tests and calls of schedule() (job_scheduler.c),
// one function each. All functions need LockKind::kAct.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/core/job.h"
#include "lib/json/task_env.h"
#include "plugin/slurm/write/job_rewrite.h"

struct job_record;

namespace rubato {

/// Result of entering a job's partition and reservation into its record.
enum class QueueEntryResult {
  kEntered,
  kNoPartition,    ///< the partition is gone, or the job no longer names it
  kNoReservation,  ///< the reservation is gone
};

/// slurmctld's answer to a start.
enum class SelectResult {
  kStarted,
  kBusy,        ///< the nodes are busy or unavailable
  kLimit,       ///< the chosen nodes would break an association or QOS limit
  kRefused,     ///< any other refusal
  kFederation,  ///< a sibling cluster holds the federation lock
};

struct SelectOutcome {
  SelectResult result = SelectResult::kRefused;
  std::string error;  ///< Slurm's text for a refusal
};

class PendingJob {
 public:
  /// Time limit of a start.
  struct TimeLimit {
    bool may_shorten = false;  ///< --time-min counts
    Seconds planned = 0;       ///< 0: as requested
  };

  /// nullopt if the job is gone, no longer pending, or another job uses its id.
  [[nodiscard]] static std::optional<PendingJob> find(const JobKey& key);

  /// Why slurmctld cannot consider the job at all now; null if it can.
  [[nodiscard]] const char* why_not_ready() const;
  /// Enters partition, features and reservation into the record, as schedule() does with a queue
  /// record. An empty `reservation` means none.
  [[nodiscard]] QueueEntryResult enter(const std::string& partition,
                                       const std::string& reservation);
  /// Why slurmctld would not consider the job now; null if it would. Uses the order of schedule().
  /// May split a task off an array: this object then refers to the task.
  [[nodiscard]] const char* why_not_now();
  /// True if association and QOS limits allow the record's current request.
  [[nodiscard]] bool within_limits() const;
  /// Calls RewrittenRequest::make() for this job.
  [[nodiscard]] Result<std::unique_ptr<RewrittenRequest>> rewrite(const Job& asked,
                                                                  const Job& planned,
                                                                  bool put_back);
  /// Asks slurmctld to allocate nodes now (select_nodes()). Meanwhile the GPU request names
  /// `gpu_type`, unless that is empty. A refusal restores the record. `limit` is that of a job with
  /// --time-min. `fail`, for a test, refuses without asking.
  [[nodiscard]] SelectOutcome select(const std::string& gpu_type, const TimeLimit& limit,
                                     bool fail);
  /// Writes the environment of this start into the job (set_job_env()).
  void set_env(const Job& job, const ChosenRun& run);
  /// Launches the job after select() started it.
  void launch();
  /// Undoes what enter() did for a magnetic reservation.
  void leave() noexcept;

  /// Hostlist of the allocated nodes; "" before a start.
  [[nodiscard]] std::string nodes() const;
  /// The job id that squeue shows: for an array, the task.
  [[nodiscard]] std::string label() const;

 private:
  explicit PendingJob(job_record* job) : job_(job) {}

  job_record* job_;
  bool partition_schedules_ = false;
};

}  // namespace rubato

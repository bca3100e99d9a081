// SPDX-License-Identifier: GPL-2.0-or-later
// What was decided for the managed jobs that run, or have just ended.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "lib/core/plan.h"
#include "lib/json/decisions.h"
#include "lib/runtime/running_jobs.h"

namespace rubato {

/// Used by the loop's thread alone.
class StartHistory {
 public:
  /// A job that has ended is told of for so long, and at most so many are.
  static constexpr Seconds kKeepEnded = 3600;
  static constexpr std::size_t kMaxEnded = 1000;

  /// decisions.json as it was at start.
  void restore(StartRecords records);

  /// After a round: what runs began with what the rounds before told; what `plan` tells to start is
  /// kept until it shows. `kind`: see StartRecord.
  void record_round(const Snapshot& snapshot, const Plan& plan,
                    const RunningJobs::RunChanges& change, RunningJobs& runs,
                    const std::string& kind);

  /// A report of a job that has ended, on its way when it did.
  void report_last(const JobKey& job, const RunFacts& facts);

  /// Gives the record of a run that has ended its summary. Nothing happens where there is no record
  /// or `facts` are of another run.
  void sum_up(const JobKey& job, const RunFacts& facts, bool completed, const BetterPlace& better);
  /// The record of a run that has ended; null if there is none.
  [[nodiscard]] std::shared_ptr<const StartRecord> ended(const JobKey& job) const;

  /// The execution plan that a run was told at its start; "" if none was chosen for it.
  [[nodiscard]] std::string plan_told(const JobKey& job) const;

  /// The same pointer while nothing has changed.
  [[nodiscard]] std::shared_ptr<const StartRecords> records();

 private:
  struct PlannedStart {
    Explanation told;
    std::string kind;
    Seconds time = 0;
    std::uint64_t round = 0;
  };

  void begin(const Job& job, const Snapshot& snapshot);
  /// `facts` are null if they are not known.
  void end(const JobKey& job, Seconds now, const RunFacts* facts);
  void settle_restored(const Snapshot& snapshot);
  void forget(Seconds now);
  void keep_told(const Snapshot& snapshot, const Plan& plan, const std::string& kind);

  std::map<JobId, PlannedStart> told_;  ///< of jobs that wait; of an array task under its array
  std::map<JobKey, std::shared_ptr<const StartRecord>> records_;
  std::shared_ptr<const StartRecords> last_;
  bool changed_ = true;
  bool restored_ = false;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// What earlier rounds know about the pending jobs, and what this round adds to it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// After this many refusals in a row the model is not trusted about a job.
inline constexpr int kMaxRefusals = 5;

/// Slurm refused the starts that the rounds planned: the job has a constraint that the model lacks.
/// Stock backfill then finds its nodes and its start (Job::stock_start), and these are reserved.
[[nodiscard]] bool asks_backfill(const JobMemory& memory);
/// The GPU type on which stock backfill plans a job whose hints name GPU types: the best one of
/// which the job could get enough nodes and GPUs at some time, nodes with several types left out.
/// Null if its hints name none, or no such type is left.
[[nodiscard]] const std::string* backfill_type(const Snapshot& snapshot, const Job& job);
/// Stock backfill is asked about such a job. It knows no hints and might mix GPU types, so the gate
/// closes the nodes of all types but backfill_type() to a job whose hints name some.
[[nodiscard]] bool left_to_backfill(const Snapshot& snapshot, const Job& job,
                                    const JobMemory& memory, const Config& config);

/// Seconds from the last refusal to the next try: 1, 2, 4, ... at most 60.
[[nodiscard]] Seconds back_off(int refusals);

/// The memory of the pending jobs, as it is before this round decides.
class JobHistory {
 public:
  /// Takes Memory::jobs for jobs that are still pending; other pending jobs get a fresh record.
  /// Drops the refusals of a job whose request, time limit, account or QOS has changed.
  JobHistory(const RoundInput& input, const PendingQueue& queue);

  [[nodiscard]] const JobMemory& of(const PendingEntry& entry) const {
    return jobs_[index_of(entry)];
  }
  /// When the job may be tried again, Unix seconds; 0: at once. It may be tried at once if cores
  /// came free on its nodes since the round before.
  [[nodiscard]] Seconds next_try(const PendingEntry& entry) const;
  /// Index into jobs().
  [[nodiscard]] std::size_t index_of(const PendingEntry& entry) const;
  /// Sorted by key, each job once.
  [[nodiscard]] const std::vector<JobMemory>& jobs() const { return jobs_; }

 private:
  void add(const RoundInput& input, const PendingEntry& entry, const JobMemory* before);

  std::vector<JobMemory> jobs_;
  std::vector<bool> room_grew_;  ///< by index into jobs_
};

/// Counts for each waiting job how many lower jobs start on nodes that it could use.
class PassedJobs {
 public:
  PassedJobs(const JobHistory& history, std::size_t nodes);

  /// The job of `entry` cannot start: later starts on its nodes pass it.
  void waits(const PendingEntry& entry);
  /// A managed job starts on `shares`.
  void started(const std::vector<NodeShare>& shares);
  /// Number of starts that passed each job, by index into JobHistory::jobs().
  [[nodiscard]] std::vector<int> counts() const;

 private:
  /// Jobs with one node set.
  struct NodeSetStarts {
    std::vector<bool> nodes;
    int starts = 0;
  };
  struct WaitingJob {
    std::size_t job;
    const NodeSetStarts* group;
    int starts_before;
  };

  const JobHistory& history_;
  std::size_t nodes_;        ///< of the cluster
  std::vector<bool> waits_;  ///< by index into JobHistory::jobs()
  std::unordered_map<const NodeSet*, NodeSetStarts> groups_;
  std::vector<WaitingJob> waiting_;
};

}  // namespace rubato

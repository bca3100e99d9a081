// SPDX-License-Identifier: GPL-2.0-or-later
// What the loop remembers of jobs: their reports, what was decided about them, how long they
// waited. Into the store, and into the memory of the rounds.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/core/plan.h"
#include "lib/json/period.h"
#include "lib/model/models.h"
#include "lib/runtime/message_queue.h"
#include "lib/runtime/run_log.h"
#include "lib/runtime/running_jobs.h"
#include "lib/runtime/start_history.h"
#include "lib/runtime/throughput_log.h"
#include "lib/store/store.h"

namespace rubato {

/// Counters of reports since the loop began.
struct ReportStats {
  std::uint64_t reports = 0;      ///< joined with a running job
  std::uint64_t stored = 0;       ///< handed to the store
  Seconds last_stored = 0;        ///< time of the last of those that it took; 0: none
  std::uint64_t untyped = 0;      ///< the job has no job type: progress only
  std::uint64_t without_gpu = 0;  ///< the job runs on CPUs: stored too, for the model of steps
  std::uint64_t unknown = 0;      ///< no running job was seen for it
  std::uint64_t other = 0;        ///< messages that are no reports
};

/// Used by the loop's thread alone. Nothing here waits for a disk: records go into the queue of the
/// store, and are dropped there when it is full.
class Recorder {
 public:
  /// `state_dir` is StateSaveLocation/rubato.
  Recorder(std::string state_dir, std::shared_ptr<const Clock> clock);

  /// Opens the store at the first call; later ones take what may change while slurmctld runs.
  /// If the store's thread cannot be started, process_messages() tries again.
  void configure(std::shared_ptr<const Config> config);
  /// report.json and decisions.json as they were at start.
  void restore(const std::string& report, const std::string& decisions = "");

  /// Processes messages of jobs, and logs the messages of the store.
  void process_messages(std::vector<JobMessage> job_messages, Memory& memory);
  /// Messages that came before any snapshot showed their job, for the next process of slurmctld.
  [[nodiscard]] const std::vector<JobMessage>& waiting() const { return held_; }
  /// Those of the process before: they wait for a snapshot too.
  void restore_waiting(std::vector<JobMessage> messages);
  /// After a round, with the memory that it left; `started` jobs are Rubato's own.
  void record_round(const Snapshot& snapshot, const Plan& plan, Memory& memory,
                    std::uint64_t started);

  /// The jobs ended by themselves: what they did counts for their job types. After their last
  /// reports.
  void record_works(const std::vector<JobKey>& completed, Memory& memory);
  /// Notes how the stated work of the jobs of ended() held; these completed.
  void record_statements(const std::vector<JobKey>& completed, Memory& memory);

  /// Completes the summaries of the runs that ended in the last round: which ended by themselves,
  /// and what `models` know of a better request. Returns them. After their last reports.
  [[nodiscard]] std::vector<std::shared_ptr<const StartRecord>> summarise(
      const std::vector<JobKey>& completed, const Models& models);

  /// Steps of changes of running jobs, each once: what became of them counts for the day.
  void record_changes(const std::vector<AskedResize>& steps, Seconds now);

  /// Records that reached the disk so far; grows when models.json may have changed.
  [[nodiscard]] std::int64_t written() const;
  [[nodiscard]] bool ready() const;
  /// The store is being opened for the first time.
  [[nodiscard]] bool opening() const;
  /// Number of opens of the store. The file may differ after each.
  [[nodiscard]] std::int64_t opened() const;
  /// Records that the store has settled: written, rejected or lost.
  [[nodiscard]] std::int64_t settled() const;
  /// Orders about profiles that the store has done or refused.
  [[nodiscard]] std::int64_t orders() const;
  /// Reports with a job type and GPUs since the last call.
  [[nodiscard]] std::vector<PendingSample> take_pending_samples() {
    return std::exchange(pending_samples_, {});
  }
  /// Path of rubato.db.
  [[nodiscard]] std::string database() const;
  /// Sets the statistics of the store.
  void put_store(JsonValue& out) const;
  [[nodiscard]] JsonValue report_json(bool breakdown) const;
  [[nodiscard]] const ReportStats& stats() const { return stats_; }
  /// report.json if it changed since the last call, else "".
  [[nodiscard]] std::string take_report(bool last);
  /// The starts of running jobs and of those that have just ended.
  [[nodiscard]] std::shared_ptr<const StartRecords> starts() { return starts_.records(); }
  /// Jobs that the last round no longer saw running.
  [[nodiscard]] const std::vector<JobKey>& ended() const { return ended_; }
  /// Reports came since the last round.
  [[nodiscard]] bool news() const { return news_; }

  /// Ends the store's thread, or leaves it behind at `deadline`.
  void stop(SteadyTime deadline);

 private:
  struct RecordedDecision {
    std::string decision;  ///< what the last one recorded of it said
    std::string refusal;
  };

  void open_store();
  /// The same; a failure is logged, and the next call tries again.
  void try_open_store() noexcept;
  [[nodiscard]] bool storing() const;
  /// Its place among the records that the store accepted; 0 if it did not take it.
  std::int64_t push(store::AnyRecord entry);
  void log_messages();
  [[nodiscard]] bool deliver(const JobMessage& message_in, Memory& memory);
  void store_report(const JobMessage& message_in, const Report& report, const RunFacts& facts);
  void store_job(const JobKey& key, RunFacts& facts, Seconds now);
  void process_held_messages(const Snapshot& snapshot, Memory& memory);
  void record_jobs(const Snapshot& snapshot, const RunningJobs::RunChanges& change);
  void record_progress_histories(const Snapshot& snapshot, const RunningJobs::RunChanges& change,
                                 Memory& memory);
  void record_decisions(const Snapshot& snapshot, const Plan& plan);
  void record_refusal(const JobMemory& memory, Seconds now);
  void record_periods(const Snapshot& snapshot, const Plan& plan,
                      const RunningJobs::RunChanges& change, std::uint64_t started);
  [[nodiscard]] store::JobType type_of(const RunFacts& facts) const;

  std::string state_dir_;
  std::string folder_;
  std::shared_ptr<const Clock> clock_;
  std::shared_ptr<const Config> config_;
  std::unique_ptr<store::Store> store_;
  std::uint64_t open_failures_ = 0;
  RunningJobs running_jobs_;
  RunLog runs_;
  std::int64_t accepted_ = 0;  ///< records by the store
  std::vector<PendingSample> pending_samples_;
  std::vector<JobKey> ended_;
  std::vector<JobMessage> held_;  ///< of jobs that no snapshot has shown running yet
  std::map<JobKey, RecordedDecision> told_;
  StartHistory starts_;
  std::map<JobKey, Seconds> said_;  ///< in observe: when the plan first said start
  Periods periods_;
  std::string last_report_;
  SteadyTime report_at_{};
  ReportStats stats_;
  bool news_ = false;
};

}  // namespace rubato

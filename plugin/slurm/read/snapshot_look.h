// SPDX-License-Identifier: GPL-2.0-or-later
// One look of SnapshotReader. It assembles the snapshot after it releases the locks.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/read/singletons.h"
#include "plugin/slurm/read/snapshot_in.h"
#include "plugin/slurm/read/stock_reserve_rules.h"
#include "plugin/slurm/stock/controller.h"

namespace rubato {

inline bool is_running(const job_record_t& job) {
  const job_record_t* record = &job;
  return (IS_JOB_RUNNING(record) || IS_JOB_SUSPENDED(record)) && job.part_ptr != nullptr &&
         job.details != nullptr;
}

inline bool is_pending(const job_record_t& job) {
  const job_record_t* record = &job;
  return IS_JOB_PENDING(record) && job.part_ptr != nullptr && job.details != nullptr;
}

/// One look at slurmctld's records. Needs its locks.
class SnapshotPass {
 public:
  SnapshotPass(SnapshotReader& reader, const Config& config, bool may_write, Depth depth,
               RepairRecord repair_record)
      : reader_(reader),
        config_(config),
        may_write_(may_write),
        depth_(depth),
        full_(depth == Depth::kFull),
        repair_(repair_record) {}

  void run();

 private:
  void cluster();
  void partitions();
  void windows();
  void walk();
  void repair(job_record_t& job, Mechanism mechanism);
  void append_magnetic(const SlurmQueueEntry& entry, std::vector<SlurmQueueEntry>& entries);
  [[nodiscard]] Singletons singletons() const;
  [[nodiscard]] std::vector<SlurmQueueEntry> light_queue();
  [[nodiscard]] std::vector<SlurmQueueEntry> full_queue();
  void running(job_record_t& job);
  [[nodiscard]] NodeClasses::Sets could_run(job_record_t& job);
  [[nodiscard]] Seconds exempt_until(job_record_t& job);
  void pending(SlurmQueueEntry entry);
  void waiting(job_record_t& job);
  [[nodiscard]] Job read_pending(const SlurmQueueEntry& entry);
  /// What is known of the job of a queue entry.
  struct Base {
    const Job* job = nullptr;
    CachedJob* cached = nullptr;  ///< null: the job is read anew in each look
    NodeClassIndex class_id;      ///< of a job in the queue
  };
  [[nodiscard]] Base base_of(const SlurmQueueEntry& entry, bool queued);
  [[nodiscard]] NodeClassIndex class_of(const SlurmQueueEntry& entry, CachedJob& cached);
  void note_victim(const job_record_t& job);
  [[nodiscard]] bool preempting(const job_record_t& job) const;
  // Running jobs that jobs of one QOS and partition may preempt.
  struct Victims {
    bool always = false;               // whatever the priority of the preemptor
    std::uint32_t above = UINT32_MAX;  // a preemptor with a higher priority has one
  };
  [[nodiscard]] bool may_preempt(const SlurmQueueEntry& entry);
  [[nodiscard]] bool may_borrow(const SlurmQueueEntry& entry) const;
  [[nodiscard]] static Victims victims_of(const SlurmQueueEntry& entry);
  [[nodiscard]] const StockPlan* stock_plan(const job_record_t& job);
  Request asked_of(const job_record_t& job, const part_record_t& part) {
    const MiB memory = whole_memory(&part);
    Request request =
        is_running(job) ? submitted_request_of(job, part, memory) : request_of(job, part, memory);
    if (config_.off(Mechanism::kThreads)) request.threads = 1;
    return request;
  }
  MiB whole_memory(const part_record_t* part) {
    const auto [at, fresh] = whole_memory_.try_emplace(part, 0);
    if (fresh) at->second = whole_memory_of(*part);
    return at->second;
  }

  SnapshotReader& reader_;
  const Config& config_;
  bool may_write_;
  Depth depth_;
  bool full_;  // reads each job
  RepairRecord repair_;
  bool preemption_ = slurm_preemption_enabled();
  StockReserveRules rules_ = StockReserveRules::read();
  bool backfilling_ = slurmctld_diag_stats.bf_active != 0;
  struct Pending {
    job_record_t* job;
    CachedJob* known;  // null: none, or the record changed
  };
  std::vector<Pending> pending_;  // in job list order
  std::vector<job_record_t*> running_;
  std::uint64_t magnetic_state_ = 0;
  time_t last_victim_ = 0;  // when slurmctld last began to preempt a job that still holds nodes
  // Earliest planned start of waiting jobs of reservations with MaxStartDelay; 0: one has no plan.
  Seconds lender_start_ = kForever;
  std::map<std::tuple<std::uint32_t, const part_record_t*, const slurmctld_resv_t*>, Victims>
      preempts_;
  /// PreemptExemptTime of running jobs by their QOS and that of their partition, seconds.
  std::map<std::pair<const slurmdb_qos_rec_t*, const slurmdb_qos_rec_t*>, Seconds> exempt_times_;
  std::map<const part_record_t*, MiB> whole_memory_;
};

}  // namespace rubato

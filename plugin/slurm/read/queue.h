// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's queue: the pending jobs that it may consider now, in Slurm's own order.
#pragma once

#include <vector>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

struct CachedJob;

/// One queue record. A job in several partitions or reservations has several.
struct SlurmQueueEntry {
  job_record_t* job = nullptr;
  part_record_t* part = nullptr;
  slurmctld_resv_t* reservation = nullptr;
  std::uint32_t priority = 0;
  std::uint32_t array_task_id = 0;
  bool use_prefer = false;
  CachedJob* known = nullptr;  ///< cached data of the job; null if it changed
  /// It may run on nodes of a reservation with MaxStartDelay (--signal=R:).
  bool may_borrow = false;
};

/// Builds the queue as schedule() does: tests dependencies, splits arrays where needed, starts
/// accrual. Needs LockKind::kAct.
[[nodiscard]] std::vector<SlurmQueueEntry> build_queue();

/// The same without writes: pending, not held, past its begin time, no open dependency. Needs
/// LockKind::kLook.
[[nodiscard]] std::vector<SlurmQueueEntry> peek_queue();

/// Appends the records that build_queue() (with `may_write`) or peek_queue() has for one pending
/// job. Appends none if Slurm may not consider it now. Only with `may_write`: the records for
/// magnetic reservations.
void append_entries(job_record_t& job, bool may_write, std::vector<SlurmQueueEntry>& entries);

/// True if a job that was in the queue still is, provided job_changed() reports no change.
[[nodiscard]] bool still_queued(const job_record_t& job, time_t now);

/// Sorts `entries`, given in job list order, into Slurm's order. The caller believes that the first
/// `sorted` ones are in order; this is checked.
void sort_entries(std::vector<SlurmQueueEntry>& entries, std::size_t sorted);

/// Fingerprint of the magnetic reservations and of when a reservation last changed. 0: there is
/// none, so that Slurm adds no records for them.
[[nodiscard]] std::uint64_t magnetic_state();
/// The magnetic reservations for which Slurm adds a record for the job.
[[nodiscard]] std::vector<slurmctld_resv_t*> magnetic_of(job_record_t& job);
/// True if the record is for a magnetic reservation, which the job did not ask for.
[[nodiscard]] bool is_magnetic(const SlurmQueueEntry& entry);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's queue: the pending jobs that may be looked at now, in Slurm's own order.
#pragma once

#include <vector>

#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

struct CachedJob;

/// One record of the queue. A job in several partitions or reservations has several.
struct SlurmQueueEntry {
  job_record_t* job = nullptr;
  part_record_t* part = nullptr;
  slurmctld_resv_t* reservation = nullptr;
  std::uint32_t priority = 0;
  std::uint32_t array_task_id = 0;
  bool use_prefer = false;
  CachedJob* known = nullptr;  ///< what a light look knows of the job, unless it has changed
};

/// As schedule() sees it: dependencies tested, arrays split where they must be, accrual started.
/// Needs LockKind::kAct.
[[nodiscard]] std::vector<SlurmQueueEntry> build_queue();

/// The same without a write: pending, not held, past its begin time, no open dependency. Needs
/// LockKind::kLook.
[[nodiscard]] std::vector<SlurmQueueEntry> peek_queue();

/// The records that build_queue() (with `may_write`) or peek_queue() has of one pending job: none
/// if it may not be looked at now. Magnetic reservations are left out.
void append_entries(job_record_t& job, bool may_write, std::vector<SlurmQueueEntry>& entries);

/// A job that was in the queue is so still, if nothing that job_changed() tells has changed.
[[nodiscard]] bool still_queued(const job_record_t& job, time_t now);

/// Brings `entries`, which come in the order of the job list, in Slurm's order. The first
/// `sorted` of them are in that order already, as far as the caller knows; it is checked.
void sort_entries(std::vector<SlurmQueueEntry>& entries, std::size_t sorted);

/// Slurm adds records for magnetic reservations to the queue: only build_queue() has them.
[[nodiscard]] bool queue_has_magnetic();

}  // namespace rubato

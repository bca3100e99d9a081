// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's queue: the pending jobs that may be looked at now, in Slurm's own order.
#pragma once

#include <vector>

#include "plugin/slurm/slurm_headers.h"

namespace rubato {

/// One record of the queue. A job in several partitions or reservations has several.
struct QueueEntry {
  job_record_t* job = nullptr;
  part_record_t* part = nullptr;
  slurmctld_resv_t* reservation = nullptr;
  std::uint32_t priority = 0;
  std::uint32_t array_task_id = 0;
  bool use_prefer = false;
};

/// As schedule() sees it: dependencies tested, arrays split where they must be, accrual begun.
/// Needs LockKind::kAct.
[[nodiscard]] std::vector<QueueEntry> build_queue();

/// The same without a write: pending, not held, past its begin time, no open dependency. Needs
/// LockKind::kLook.
[[nodiscard]] std::vector<QueueEntry> peek_queue();

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Why Slurm itself does not let a pending job start.
#pragma once

#include <string>

#include "lib/core/job.h"
#include "plugin/slurm/slurm_headers.h"

namespace rubato {

struct BlockFound {
  Block kind = Block::kNone;
  std::string words;
};

/// What the state reason that slurmctld left in a pending job says.
[[nodiscard]] Block block_of_reason(const job_record_t& job);
[[nodiscard]] std::string words_of_reason(const job_record_t& job);

/// The tests that schedule() makes before select_nodes() (job_scheduler.c _schedule), in its order.
/// Without `may_write` only the state reason that stock Slurm left is read.
[[nodiscard]] BlockFound find_block(job_record_t& job, part_record_t& part, bool reservation_closed,
                                    bool may_write);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Why Slurm itself does not let a pending job start.
#pragma once

#include <string>

#include "lib/core/job.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

struct BlockFound {
  Block kind = Block::kNone;
  std::string words;
};

/// What the state reason that slurmctld left in a pending job says.
[[nodiscard]] Block block_of_reason(const job_record_t& job);
[[nodiscard]] std::string words_of_reason(const job_record_t& job);

struct BlockTests {
  bool reservation_closed = false;  ///< found out already
  bool may_write = false;  ///< without it only the state reason that stock Slurm left is read
  bool licences = true;    ///< the job needs some
  bool array = true;       ///< it may be an array
};

/// The tests that schedule() makes before select_nodes() (job_scheduler.c _schedule), in its order.
[[nodiscard]] BlockFound find_block(job_record_t& job, part_record_t& part,
                                    const BlockTests& tests);

}  // namespace rubato

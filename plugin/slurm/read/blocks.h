// SPDX-License-Identifier: GPL-2.0-or-later
// Why Slurm itself does not let a pending job start.
#pragma once

#include <string>

#include "lib/core/job.h"
#include "plugin/slurm/read/limit_room.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

struct BlockFound {
  Block kind = Block::kNone;
  std::string words;
};

/// The meaning of the state reason that slurmctld set on a pending job.
[[nodiscard]] Block block_of_reason(const job_record_t& job);
[[nodiscard]] std::string words_of_reason(const job_record_t& job);

struct BlockTests {
  bool reservation_closed = false;  ///< known to be closed
  bool may_write = false;           ///< if false, only reads the state reason that stock Slurm set
  bool licences = true;             ///< whether the job needs licences
  bool array = true;                ///< whether it may be an array
  LimitRooms* rooms = nullptr;      ///< of this look; needed with `may_write`
  KnownLimit* known = nullptr;      ///< of the job, read and written; null: tests again each time
};

/// The tests that schedule() makes before select_nodes(), in the same order (job_scheduler.c
/// _schedule).
[[nodiscard]] BlockFound find_block(job_record_t& job, part_record_t& part,
                                    const BlockTests& tests);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// What association and QOS limits on TRES leave free, so that most jobs need no test of their own.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// The limits that apply to the jobs of one user with the same association and QOS.
struct LimitRoom {
  std::vector<std::uint64_t> most;  ///< by TRES: a request up to this passes; UINT64_MAX: no limit
  bool timed = false;               ///< a limit on TRES minutes or wall time, or a limit factor
  std::uint64_t state = 0;          ///< fingerprint of the limits and of what is in use

  /// True if no limit on TRES can keep a job that requests `tres` (by TRES) on at least one node
  /// from starting.
  [[nodiscard]] bool surely_allows(const std::uint64_t* tres) const;
};

/// The answer of the last test of a job's limits.
struct KnownLimit {
  bool tested = false;
  bool limited = false;
  std::uint32_t reason = 0;  ///< state reason, if limited
  std::uint64_t state = 0;   ///< LimitRoom::state at the test: the answer holds while it stays
};

/// The rooms of one look. acct_policy_job_runnable_post_select() takes three locks and about ten
/// allocations for each job. A room is computed once for all jobs to which it applies.
class LimitRooms {
 public:
  /// Starts a look.
  void begin() { rooms_.clear(); }
  /// The room of a pending job in `part`. Needs slurmctld's job read lock.
  [[nodiscard]] const LimitRoom& of(const job_record_t& job, const part_record_t& part);

 private:
  using Key = std::tuple<const void*, const void*, const void*, std::uint32_t>;

  std::map<Key, LimitRoom> rooms_;
};

}  // namespace rubato

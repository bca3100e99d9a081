// SPDX-License-Identifier: GPL-2.0-or-later
// How many pending jobs a round considers: all, unless rounds pass RoundDeadline.
#pragma once

#include <cstddef>
#include <limits>

#include "lib/core/snapshot.h"

namespace rubato {

/// A round past its deadline halves the number at least, and rounds with time to spare double it.
/// So a cluster that is too large for its deadline gets plans for the head of its queue.
class RoundSize {
 public:
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t kLeast = 16;  ///< a round considers as many jobs in any case

  /// The number of pending jobs that the next round may consider.
  [[nodiscard]] std::size_t limit() const { return limit_; }
  /// A round considered `considered` of `waiting` jobs in `ms`.
  void ended(std::size_t considered, std::size_t waiting, double ms, double deadline_ms);

 private:
  std::size_t limit_ = kAll;
};

/// Blocks (Block::kLeftOut) the pending jobs that a round may not consider: all but the first
/// `limit` in Slurm's order and those with a reservation. They stay in the snapshot, so that the
/// round carries on what is known of them. Jobs that Slurm blocks do not count. Returns the number
/// of jobs that are left to consider.
std::size_t leave_out(Snapshot& snapshot, std::size_t limit);

}  // namespace rubato

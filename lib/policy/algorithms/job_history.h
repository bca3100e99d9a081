// SPDX-License-Identifier: GPL-2.0-or-later
// What is remembered of pending jobs from round to round.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lib/policy/algorithms/pending_queue.h"

namespace rubato {

/// Refusals in a row after which nothing is reserved for a job any more.
inline constexpr int kMaxRefusals = 5;

/// Seconds from the last refusal to the next try: 1, 2, 4, ... at most 60.
[[nodiscard]] Seconds back_off(int refusals);

class History {
 public:
  /// Memory of the jobs that are still pending, and fresh one for the others. Refusals of a job
  /// whose request, time limit, account or QOS has changed are forgotten.
  explicit History(const RoundContext& context);

  [[nodiscard]] const JobMemory& of(const PendingEntry& entry) const;
  /// When the job may be tried again; not after now if it may be tried at once. That is so too
  /// when something has come free on its nodes since the round before.
  [[nodiscard]] Seconds next_try(const PendingEntry& entry) const;

  /// From here on starts on the nodes of `entry` pass it.
  void waits(const PendingEntry& entry);
  /// A managed job starts on `shares`.
  void started(const std::vector<NodeShare>& shares);
  /// With the counts of this round.
  [[nodiscard]] std::vector<JobMemory> take();

 private:
  /// Jobs with one node set.
  struct NodeSetStarts {
    std::vector<bool> nodes;
    int starts = 0;
  };
  struct PassedCount {
    std::size_t memory;
    const NodeSetStarts* group;
    int starts_before;
  };
  [[nodiscard]] std::size_t index_of(const PendingEntry& entry) const;
  void check_refusals(JobMemory& memory, const PendingEntry& entry);

  const RoundContext& context_;
  std::vector<JobMemory> memory_;  ///< sorted by key
  std::vector<bool> waits_;        ///< by index into memory_
  std::vector<bool> room_grew_;    ///< likewise
  std::unordered_map<const NodeSet*, NodeSetStarts> groups_;
  std::vector<PassedCount> waiting_;
};

}  // namespace rubato

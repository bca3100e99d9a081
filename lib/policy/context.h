// SPDX-License-Identifier: GPL-2.0-or-later
// What the stages of one round share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/policy/capacity.h"
#include "lib/policy/demand.h"

namespace rubato {

/// An entry of the queue: a pending job in one partition and reservation.
struct Entry {
  const Job* job = nullptr;
  int order = 0;  ///< place in the order of this round, from 0
  Demand demand{Request{}};
  const NodeSet* nodes = nullptr;  ///< where it may start now; never null, valid indices
  const NodeSet* later = nullptr;  ///< where it could start at some time; likewise

  /// When it ends if it starts at `start` and runs to its time limit.
  [[nodiscard]] Seconds end(Seconds start) const { return add_seconds(start, job->time_limit); }
};

/// The inputs of a round, and what the first stages made of them.
struct RoundContext {
  const Snapshot& snapshot;
  const Config& config;
  Seconds now = 0;
  std::vector<Entry> queue;          ///< pending jobs in order
  std::vector<const NodeSet*> sets;  ///< by index into Snapshot::node_sets; empty if not valid
  std::vector<int> by_key;           ///< orders, sorted by job key; entries of one job by order
  std::vector<double> speeds;        ///< by TypeId
  std::vector<TypeId> fastest;       ///< types by speed, fastest first; then by name

  /// The node set of an index; an empty one if there is none of it.
  [[nodiscard]] const NodeSet* set(int index) const;
  /// The entries of one job, as orders.
  [[nodiscard]] std::span<const int> entries_of(const JobKey& job) const;
  /// How long the job has been able to run, 0 if that is not known.
  [[nodiscard]] Seconds waited(const Job& job) const;
};

/// Fills all but `speeds` and `fastest`. Node sets that are not there or name nodes that are not
/// there count as empty.
[[nodiscard]] RoundContext make_context(const Snapshot& snapshot, const Config& config,
                                        Seconds now);

}  // namespace rubato

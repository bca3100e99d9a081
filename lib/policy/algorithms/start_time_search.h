// SPDX-License-Identifier: GPL-2.0-or-later
// Looks for the earliest time at which a gang fits.
#pragma once

#include <optional>
#include <vector>

#include "lib/policy/algorithms/choose.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/placer.h"

namespace rubato {

/// Goes forward in time over the moments at which room on the nodes of one job can grow, on GPUs
/// of one type. Keeps what each node carries and looks again only at nodes where that changes.
class StartTimeSearch {
 public:
  StartTimeSearch(const RoundInput& input, const Capacity& capacity, const Placer& placer,
                  const PendingEntry& entry, TypeId type);

  struct Found {
    Seconds start = 0;
    NodeChoice choice;
  };
  /// The earliest start before `until`.
  [[nodiscard]] std::optional<Found> run(Seconds until);

 private:
  using CandidateIndex = Index<struct CandidateTag>;  ///< into nodes_

  struct Moment {
    Seconds time;
    CandidateIndex index;
  };

  void add_node(NodeIndex node);
  void examine(CandidateIndex index, Seconds time);
  [[nodiscard]] bool may_fit() const;

  const RoundInput& input_;
  const Capacity& capacity_;
  const Placer& placer_;
  const PendingEntry& entry_;
  TypeId type_;
  std::vector<NodeCandidate> nodes_;  ///< amount 0: carries nothing
  std::vector<Moment> moments_;
  std::vector<CandidateIndex> changing_;  ///< nodes where room also shrinks: looked at every time
  std::int64_t carried_ = 0;
  int with_room_ = 0;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Maps nodes of a snapshot to slurmctld's node table, which may have changed since.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/core/node.h"
#include "lib/core/snapshot.h"

namespace rubato {

/// Valid while the caller holds the locks under which it was made.
class NodeSlots {
 public:
  explicit NodeSlots(const Snapshot& snapshot);

  /// Sorted indices of slurmctld's table; nullopt if a node is gone.
  [[nodiscard]] std::optional<std::vector<int>> of(const std::vector<NodeShare>& shares) const;
  [[nodiscard]] std::optional<std::vector<int>> of(const std::vector<NodeIndex>& nodes) const;

 private:
  std::vector<int> slots_;  // by NodeIndex; -1: gone
};

/// Hostlist such as "n[1-2,5]", in the order of the snapshot. Needs no lock.
[[nodiscard]] std::string hostlist_of(const Snapshot& snapshot,
                                      const std::vector<NodeShare>& shares);

}  // namespace rubato

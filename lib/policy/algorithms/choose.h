// SPDX-License-Identifier: GPL-2.0-or-later
// Which of the nodes that have room a gang takes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/policy/algorithms/demand.h"

namespace rubato {

/// A node that has room for a part of the job.
struct NodeCandidate {
  NodeIndex node = 0;
  int amount = 0;  ///< the most of this job it carries
  int free = 0;    ///< GPUs (cores for a job without) free on it: what is left over is stranded
  bool powered_down = false;
  std::uint64_t weight = 0;
};

/// The objective, smallest first: nodes, those that must boot, the sum of node weights, what is
/// left over on the nodes.
struct NodeScore {
  int nodes = 0;
  int powered_down = 0;
  std::uint64_t weight = 0;
  std::int64_t left = 0;

  // clang-tidy 14 takes the implied comparison with 0 for a null pointer.
  auto operator<=>(const NodeScore&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Nodes with the amount on each, sorted by node.
struct NodeChoice {
  std::vector<std::pair<NodeIndex, int>> parts;
  NodeScore score;
};

/// Above this many steps of the exact search, `choose` takes the nodes with most room first and
/// betters that choice one node at a time.
inline constexpr std::int64_t kExactSteps = 400'000;

/// The best nodes for `demand`, or nothing if the candidates do not carry it whole. The number of
/// nodes of a kGpusPerNode demand is `nodes`; the others take the fewest nodes that do. Among
/// choices of equal score lower node indices win. `candidates` are sorted by node.
[[nodiscard]] std::optional<NodeChoice> choose(const std::vector<NodeCandidate>& candidates,
                                               const Demand& demand, int nodes);

/// `choose` would find nodes. Cheaper.
[[nodiscard]] bool carried(const std::vector<NodeCandidate>& candidates, const Demand& demand,
                           int nodes);

}  // namespace rubato

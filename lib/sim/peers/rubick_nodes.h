// SPDX-License-Identifier: GPL-2.0-or-later
// Where Rubick's simulator lets a job run.
#pragma once

#include <optional>
#include <vector>

#include "lib/sim/engine/node_pool.h"
#include "lib/sim/engine/policy.h"
#include "lib/sim/peers/rubick_tables.h"

namespace rubato::sim {

/// Free nodes for a grant in one of the shapes of the job's model: those of the grant if they have
/// such a shape. Else for a small model the node with most free GPUs, for a large one the first
/// nodes that fit the first shape with as many GPUs. nullopt: none, or the shape was not measured.
[[nodiscard]] std::optional<std::vector<NodeGpus>> rubick_nodes(const RubickTimes& times,
                                                                const SimJob& job,
                                                                const Grant& grant,
                                                                const NodePool& pool);

}  // namespace rubato::sim

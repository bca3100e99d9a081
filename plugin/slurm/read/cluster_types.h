// SPDX-License-Identifier: GPL-2.0-or-later
// GPU types of the cluster.
#pragma once

#include <string>
#include <vector>

namespace rubato {

/// GPU types of the cluster's nodes, sorted and unique; empty if no node names one. Reads the node
/// table at most once a second. Needs slurmctld's node read lock.
[[nodiscard]] std::vector<std::string> cluster_gpu_types();

}  // namespace rubato

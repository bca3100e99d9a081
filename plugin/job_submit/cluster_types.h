// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

namespace rubato {

/// Types of GPU that the nodes have, sorted, each once; empty when no node names one. Read under
/// slurmctld's node lock, anew at most once a second.
[[nodiscard]] std::vector<std::string> cluster_gpu_types();

}  // namespace rubato

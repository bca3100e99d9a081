// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs that a running job gets while it runs, because somebody asked (`rubato resize`) or the round
// decided it.
#pragma once

#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// Whether `job` gets `gpus` GPUs while it runs if whoever asked did not say how: it consents to
/// that, and they are more. Else by a restart.
[[nodiscard]] bool grows_live(const Job& job, int gpus);

/// What `job` (running, in `snapshot`) gets beside its allocation for `gpus` GPUs in all: on its
/// own nodes if they have as many free, else where round() would start a job of that size now. All
/// of one type, which it holds already. The error says why there is nothing.
[[nodiscard]] Result<std::vector<NodeShare>> nodes_added(const Snapshot& snapshot,
                                                         const Models& models, const Config& config,
                                                         const Job& job, int gpus, Seconds now);

/// Whether the request of the running job allows `added` beside its nodes, for `gpus` GPUs in all:
/// a number of nodes, or whole nodes alone.
[[nodiscard]] bool may_have_beside(const Job& job, int gpus, const std::vector<NodeShare>& added);

/// The allocation of `job` and `added` together, sorted by node.
[[nodiscard]] std::vector<NodeShare> with_held(const Job& job, const std::vector<NodeShare>& added);

/// What `shares`, an allocation that contains that of `job`, has beside it.
[[nodiscard]] std::vector<NodeShare> beside_held(const Job& job,
                                                 const std::vector<NodeShare>& shares);

}  // namespace rubato

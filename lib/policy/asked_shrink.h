// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that a running job gives back while it runs, because somebody asked (`rubato resize`).
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/core/snapshot.h"

namespace rubato {

/// Why a running job keeps its size while it runs, whatever the wish; "" if it can change. The only
/// consent is the hint resize=live.
[[nodiscard]] std::string why_never_live(const Job& job);

/// Whether `job` gets `gpus` GPUs while it runs if whoever asked did not say how: it consents to
/// that, and they are fewer. Else by a restart.
[[nodiscard]] bool shrinks_live(const Job& job, int gpus);

/// What `job` (running, in `snapshot`) keeps of its allocation, whole nodes with `gpus` GPUs in
/// all. The node of its batch script stays. Of the others those stay first that
/// have GPUs of other jobs as well, so that what it gives back becomes whole free nodes. The error
/// says why not, with the sizes that its nodes allow.
[[nodiscard]] Result<std::vector<NodeShare>> nodes_kept(const Snapshot& snapshot, const Job& job,
                                                        int gpus);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// What a job hears of a change of its size, batch or plan.
#pragma once

#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/notice.h"

namespace rubato {

/// The job has got its signal, and `due` is when it loses the nodes that it does not keep
/// (AskedResize::shares of a shrink), or is requeued. `job` runs, in `snapshot`.
[[nodiscard]] Notice coming_notice(const AskedResize& change, const Job& job, Seconds due,
                                   const Snapshot& snapshot);

/// The job runs on without its other nodes, or with those of `added` beside its own. `job` is as it
/// was before.
[[nodiscard]] Notice shrunk_notice(const AskedResize& change, const Job& job,
                                   const std::vector<NodeShare>& kept, const Snapshot& snapshot);
[[nodiscard]] Notice grown_notice(const AskedResize& change, const Job& job,
                                  const std::vector<NodeShare>& added, const Snapshot& snapshot);

/// The job keeps its GPUs and is told another batch, or another plan too.
[[nodiscard]] Notice told_notice(const Change& change, const Job& job);

/// The job was told of the change, and keeps its size.
[[nodiscard]] Notice failed_notice(const AskedResize& change);

}  // namespace rubato

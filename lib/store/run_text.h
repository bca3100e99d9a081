// SPDX-License-Identifier: GPL-2.0-or-later
// A run as it is kept: a snapshot of one job, with the names of the nodes that it could use or had,
// so that it outlives changes of the nodes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "lib/core/snapshot.h"

namespace rubato::sim {

/// Most nodes whose names are kept with a run. A job that could use more of them, and not all of
/// its partition, has no text.
inline constexpr std::size_t kMaxNames = 1000;

/// `job` runs in `snapshot`, started in `mode`; `later_set` is where it could run, -1 for anywhere
/// in its partition. "" beyond kMaxNames.
[[nodiscard]] std::string run_text(const Job& job, const Snapshot& snapshot, Mode mode);

/// The mode a run of this text began in; nullopt where the text does not say.
[[nodiscard]] std::optional<Mode> mode_of_run(std::string_view text);

/// The job of a text, with nodes by their indices in `cluster`, to whose node sets that of the job
/// is added. Running, with both its sets the same. Fails where a node or the partition is gone.
[[nodiscard]] Result<Job> run_from_text(std::string_view text, Snapshot& cluster);

}  // namespace rubato::sim

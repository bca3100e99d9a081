// SPDX-License-Identifier: GPL-2.0-or-later
// A run in stored form: a snapshot of one job, with the names of nodes it could use or had. Names
// stay valid when nodes change.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "lib/core/snapshot.h"

namespace rubato::sim {

/// Maximum number of node names stored with a run. A job that could use more nodes, but not its
/// whole partition, has no text.
inline constexpr std::size_t kMaxNames = 1000;

/// The text of `job`, which runs in `snapshot` and started in `mode`; `later_set` contains the
/// nodes it could use, -1 for any in its partition. "" beyond kMaxNames.
[[nodiscard]] std::string run_text(const Job& job, const Snapshot& snapshot, Mode mode);

/// The mode in which a run started; nullopt if the text does not contain it.
[[nodiscard]] std::optional<Mode> mode_of_run(std::string_view text);

/// The job of a text, with nodes as indices into `cluster`. Adds its node set to those of
/// `cluster`. The job is running, and both its sets are equal. Fails if a node or the partition is
/// gone.
[[nodiscard]] Result<Job> run_from_text(std::string_view text, Snapshot& cluster);

}  // namespace rubato::sim

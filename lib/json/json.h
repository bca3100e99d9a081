// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot, Plan and Memory as JSON text. The same value always gives the same bytes.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato {

inline constexpr const char* kSnapshotSchema = "rubato.snapshot/1";
inline constexpr const char* kPlanSchema = "rubato.plan/1";
inline constexpr const char* kStateSchema = "rubato.state/1";

/// One line of JSON, keys in a fixed order, empty and default members left out, nodes by name.
[[nodiscard]] std::string to_json(const Snapshot&);
[[nodiscard]] std::string to_json(const Plan&, const Snapshot&);
/// For the state file: node names instead of indices, so that it survives a change of the nodes.
[[nodiscard]] std::string to_json(const Memory&, const Snapshot&);

/// A record alone, as it stands in a plan.
[[nodiscard]] std::string to_json(const Explanation&);

/// Errors name the member ("jobs[3].request.gpus: expected a whole number, found \"x\"").
[[nodiscard]] Result<Snapshot> snapshot_from_json(std::string_view text);
[[nodiscard]] Result<Plan> plan_from_json(std::string_view text, const Snapshot&);
/// Reads the state file of any release with this schema: members that are not known are left out,
/// and so is each record of a list that cannot be read or that names a node that is not in
/// `snapshot`. `left_out` then receives how much that is, as a sentence.
[[nodiscard]] Result<Memory> memory_from_json(std::string_view text, const Snapshot& snapshot,
                                              std::string* left_out = nullptr);

}  // namespace rubato

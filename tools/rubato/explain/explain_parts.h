// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers shared by the text, the JSON and the table of `rubato explain`.
#pragma once

#include <cmath>
#include <string>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "tools/shared/output.h"

namespace rubato::tools {

[[nodiscard]] Color color_of(Verdict verdict);

/// Whether to print the earliest start: it is in the future, or a latest start is known.
[[nodiscard]] bool tells_earliest(const Explanation& e, Seconds now);

/// `node` is an index into the snapshot's nodes.
[[nodiscard]] const std::string& node_name(const Snapshot& snapshot, NodeIndex node);

/// Seconds, rounded up.
[[nodiscard]] inline Seconds whole_seconds(double seconds) {
  return static_cast<Seconds>(std::ceil(seconds));
}

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// Prometheus' text format (version 0.0.4) from what Rubato publishes.
#pragma once

#include <optional>
#include <string>

#include "lib/json/models_table.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"

namespace rubato::tools {

/// One family after another, each with HELP and TYPE. `stats` null: Rubato cannot be read, which
/// rubato_up tells; `snapshot` null: no GPUs by type; `models` null: no profiles. Numbers of groups
/// of stats.json that are not known here become rubato_GROUP_MEMBER of type untyped.
[[nodiscard]] std::string metrics_text(const PublishedStats* stats, const Snapshot* snapshot,
                                       const ModelsTable* models, bool up, Seconds now);

/// A label's value with backslash, quote and line end escaped.
[[nodiscard]] std::string escape_label(std::string_view text);

}  // namespace rubato::tools

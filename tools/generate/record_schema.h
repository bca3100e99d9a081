// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Schemas of snapshot, plan and decisions, made from the descriptions in lib/json/.
#pragma once

#include <string>

namespace rubato {

/// docs/schema/rubato.snapshot.1.json.
[[nodiscard]] std::string snapshot_schema();

/// docs/schema/rubato.plan.1.json.
[[nodiscard]] std::string plan_schema();

/// docs/schema/rubato.decisions.1.json.
[[nodiscard]] std::string decisions_schema();

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Schema of the statistics, made from lib/json/statistics_table.h.
#pragma once

#include <string>

namespace rubato {

/// docs/schema/rubato.stats.1.json.
[[nodiscard]] std::string statistics_schema();

}  // namespace rubato

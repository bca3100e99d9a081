// SPDX-License-Identifier: GPL-2.0-or-later
// The metrics of Rubato, from what it publishes.
#pragma once

#include <optional>
#include <string>

#include "lib/json/models_table.h"
#include "tools/rubato/stats/metric_text.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"

namespace rubato::tools {

/// What could be read; null: it could not.
struct MetricSources {
  const PublishedStats* stats = nullptr;
  const Snapshot* snapshot = nullptr;
  bool jobs_known = true;  ///< PrivateData hides no jobs of the snapshot
  const Plan* plan = nullptr;
  const ModelsTable* models = nullptr;
  bool profiles = true;  ///< one series per profile, besides those by GPU type
  bool up = false;       ///< the loop runs
};

/// One family after another, each with HELP and TYPE; rubato_up is always there. Numbers of
/// stats.json that its table does not know become rubato_GROUP_MEMBER of type untyped.
[[nodiscard]] std::string metrics_text(const MetricSources& sources);

}  // namespace rubato::tools

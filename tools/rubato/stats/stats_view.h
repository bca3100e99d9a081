// SPDX-License-Identifier: GPL-2.0-or-later
// stats.json as people read it.
#pragma once

#include <string>
#include <vector>

#include "tools/shared/gpu_use.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"

namespace rubato::tools {

/// All counters in groups, as sdiag prints its own. Members that are not known here are printed by
/// their names.
[[nodiscard]] std::string stats_text(const PublishedStats& stats, Seconds now);

/// The section "GPUs by type"; "" without types.
[[nodiscard]] std::string gpus_text(const std::vector<GpuTypeUse>& types);

/// The days of group `report`: what Rubato did, or in mode observe would have done. The newest
/// `days` of them.
[[nodiscard]] std::string days_text(const Json& report, int days);

}  // namespace rubato::tools

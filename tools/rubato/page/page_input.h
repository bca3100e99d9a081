// SPDX-License-Identifier: GPL-2.0-or-later
// What `rubato page` shows, read from the published files and the store.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "lib/json/models_table.h"
#include "tools/shared/published.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// A run that has ended.
struct PastRun {
  Job job;  ///< `allocation` has indices into the nodes of the snapshot
  Seconds start = 0;
  Seconds end = 0;
};

struct PageInput {
  Snapshot snapshot;
  Plan plan;
  std::optional<PublishedStats> stats{};
  StartRecords decisions{};
  std::optional<ModelsTable> models{};
  std::vector<PastRun> past{};  ///< ended since `from`, by start
  bool stored = false;          ///< `past` is from the store: whole for the hours shown
  std::string stopped{};        ///< that the loop does not run, and since when; "": it runs
  int hours = 6;                ///< shown before and after the snapshot
};

/// Without `whole` what PrivateData of slurm.conf hides is left out (public_view()), also where the
/// reader may see it: a page has one content for all its readers.
[[nodiscard]] Result<PageInput> read_page_input(const Site& site, int hours, bool whole);

}  // namespace rubato::tools

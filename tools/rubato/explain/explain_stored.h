// SPDX-License-Identifier: GPL-2.0-or-later
// An ended run that decisions.json no longer has, from the store.
#pragma once

#include <optional>

#include "lib/json/decisions.h"
#include "tools/shared/job_match.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// The last run of the job that has ended, with its summary. Its `time` is 0: the decision at its
/// start is not part of it. GPUs are those of its start. nullopt if this user cannot read the
/// store, or the store has no such run.
[[nodiscard]] std::optional<StartRecord> stored_run(const Site& site, const JobSelector& selector);

}  // namespace rubato::tools

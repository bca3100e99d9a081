// SPDX-License-Identifier: GPL-2.0-or-later
// A decision of the plan as people and programs read it.
#pragma once

#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "tools/shared/output.h"

namespace rubato::tools {

/// One entry of the queue: a job in one of its partitions, with what was decided for it.
struct PlanEntry {
  const Job* job = nullptr;                  ///< null if the snapshot no longer has it
  const Explanation* explanation = nullptr;  ///< null for a running job, or one not planned yet
  const StartRecord* started = nullptr;      ///< what a running job started with, if it is known
};

/// Pending entries in the order of the plan, those not planned yet after them, then running jobs.
[[nodiscard]] std::vector<PlanEntry> queue_of(const Snapshot& snapshot, const Plan& plan);

/// Why Rubato leaves `job` to stock Slurm; "" if it does not.
[[nodiscard]] std::string why_unmanaged(const Job& job, const Snapshot& snapshot);

/// Meaning of a verdict, as a short phrase.
[[nodiscard]] std::string meaning(Verdict verdict);

/// Several lines about one entry. `all_stock` says why stock Slurm schedules managed jobs too at
/// this moment; "" if it does not.
[[nodiscard]] std::string entry_text(const PlanEntry& entry, const Snapshot& snapshot,
                                     const std::string& all_stock, Seconds now, bool color);

/// The same as a JSON object. Times are Unix seconds; unknown values are omitted.
[[nodiscard]] Json entry_json(const PlanEntry& entry, const Snapshot& snapshot,
                              const std::string& all_stock);

/// The same of a job that has ended since, of which only the decision is known.
[[nodiscard]] std::string ended_text(const StartRecord& record, bool color);
[[nodiscard]] Json ended_json(const StartRecord& record);

/// A table of the pending entries with a line of titles. Lines are cut to `width` columns unless
/// it is 0; partition and user are left out where they would leave the reason no room.
[[nodiscard]] std::string queue_table(const std::vector<PlanEntry>& entries, Seconds now,
                                      std::size_t width, bool color);

}  // namespace rubato::tools

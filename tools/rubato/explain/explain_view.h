// SPDX-License-Identifier: GPL-2.0-or-later
// Shows a decision of the plan as text, or as a record for JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "tools/rubato/explain/explain_ended.h"
#include "tools/shared/output.h"

namespace rubato::tools {

struct ExplainedJob;  // explain_records.h

/// One queue entry: a job in one of its partitions, with its decision.
struct PlanEntry {
  const Job* job = nullptr;                  ///< null if the snapshot no longer has it
  const Explanation* explanation = nullptr;  ///< null for a running job, or one not planned yet
  const StartRecord* started = nullptr;      ///< decision at the start of a running job, if known
  const Change* change = nullptr;            ///< of a running job in mode elastic, else null
  const Stay* stay = nullptr;                ///< of a running job in mode elastic, else null
  const SizeHold* hold = nullptr;            ///< of a running job whose size is held, else null
  const AskedResize* resize = nullptr;       ///< another size that somebody asked for, else null
  Seconds old_since = 0;  ///< when the plan was made if it is no longer in effect, else 0
};

/// Pending entries in plan order, then those not planned yet, then running jobs.
[[nodiscard]] std::vector<PlanEntry> queue_of(const Snapshot& snapshot, const Plan& plan);

/// Why Rubato leaves `job` to stock Slurm; "" if it does not.
[[nodiscard]] std::string why_unmanaged(const Job& job, const Snapshot& snapshot);

/// Meaning of a verdict, as a short phrase.
[[nodiscard]] std::string meaning(Verdict verdict);

/// Several lines about one entry. `all_stock`: why stock Slurm currently schedules managed jobs
/// too; "" if it does not.
[[nodiscard]] std::string entry_text(const PlanEntry& entry, const Snapshot& snapshot,
                                     const std::string& all_stock, Seconds now, bool color);

/// The same for JSON.
[[nodiscard]] ExplainedJob explained(const PlanEntry& entry, const Snapshot& snapshot,
                                     const std::string& all_stock);

/// The same for an ended job; `end` is none if slurmctld no longer has the job.
[[nodiscard]] std::string ended_text(const StartRecord& record, const std::optional<JobEnd>& end,
                                     bool color);
[[nodiscard]] ExplainedJob explained(const StartRecord& record, const std::optional<JobEnd>& end);

/// A table of the pending entries with a heading. Lines are cut to `width` columns unless it is 0.
/// Partition and user are omitted if they would leave no room for the reason.
[[nodiscard]] std::string queue_table(const std::vector<PlanEntry>& entries, Seconds now,
                                      std::size_t width, bool color);

}  // namespace rubato::tools

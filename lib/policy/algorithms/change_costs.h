// SPDX-License-Identifier: GPL-2.0-or-later
// What changes of jobs cost: measured by the reports around each change, and expected of the next
// change by the job type.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// Maximum number of profiles with measured costs; the one not measured for the longest is dropped.
inline constexpr std::size_t kMaxCostProfiles = 256;
/// No change counts as more, seconds. A job may count its samples anew after a restart.
inline constexpr double kMaxChangeCost = 86400;
/// Costs that were not measured for so long are not expected any more, seconds. Else one bad
/// restart would forbid all those that could show a lower cost.
inline constexpr Seconds kCostLife = 7 * 86400;
/// So long after a change a report may still show its cost, seconds.
inline constexpr Seconds kCostKeep = 3600;

/// Notes the last report of the job before a change; none of this run: the cost is not measured.
void note_progress(AskedResize& change, const Progress* progress);

/// The change was carried out, and its cost may still be measured.
[[nodiscard]] bool awaits_cost(const AskedResize& change, Seconds now);

/// Seconds without progress that a change which is over cost `job`, by the last report (null: none)
/// after it: the time between the reports before and after, without the time that the samples in
/// between took, and after a stop without the time in the queue. What a restart lost since the last
/// save is in it. nullopt until such a report comes.
[[nodiscard]] std::optional<double> cost_shown(const AskedResize& change, const Job& job,
                                               const Progress* after);

/// Adds a measured cost to the mean of its profile, with more weight for the last ones. `live`: the
/// job ran on. `costs` is sorted by account and job type and stays so.
void fold_cost(const ProfileName& profile, bool live, double cost, Seconds now,
               std::vector<ProfileCosts>& costs);

/// Fills in Job::costs and Job::starting. A restart costs what those of the job type did
/// (Memory::change_costs), else RestartCost. A first start counts as RestartCost, or as a restart
/// where that is less: it has no checkpoint to read. A change of a job with resize=live costs what
/// those of its type did while they ran, else ResizeCost, but no more than a restart. A job is
/// starting for the cost of a first start, since what a restart lost is no part of that.
void fill_change_costs(Snapshot& snapshot, const Config& config);

}  // namespace rubato

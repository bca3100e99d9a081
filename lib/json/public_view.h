// SPDX-License-Identifier: GPL-2.0-or-later
// What everybody may read of snapshot, plan and profiles, where slurm.conf has PrivateData.
#pragma once

#include <set>
#include <string>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "lib/json/models_fit.h"
#include "lib/json/models_table.h"

namespace rubato {

/// `snapshot` without what its `private_data` hides. Slurm decides for each user what to show; a
/// file has one content for all, so what is hidden from anybody is left out.
///
/// - jobs: no job, and nothing remembered of one
/// - nodes: no node, and no place of a job
/// - partitions: no list of partitions
/// - users, accounts: jobs without user, without account
[[nodiscard]] Snapshot public_view(Snapshot snapshot);

/// The same of its plan, with the fingerprint of `shown`, the public view of the snapshot. Where
/// nodes are hidden, reasons go too: they name nodes. Where profiles are (see below), so do the
/// rates in reasons and facts.
[[nodiscard]] Plan public_view(Plan plan, const Snapshot& shown);

/// The same of what running jobs started with.
[[nodiscard]] StartRecords public_view(const StartRecords& records, const PrivateData& hidden);

/// Profiles that all accounts share stay; those of one account go where jobs, usage or accounts are
/// hidden.
[[nodiscard]] ModelsTable public_view(ModelsTable table, const PrivateData& hidden);

/// The same of what a round decided by; `shared` are the job types that all accounts share.
[[nodiscard]] ModelsFit public_view(ModelsFit fit, const PrivateData& hidden,
                                    const std::set<std::string>& shared);

}  // namespace rubato

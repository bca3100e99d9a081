// SPDX-License-Identifier: GPL-2.0-or-later
// What everybody may read of snapshot, plan and profiles, where slurm.conf has PrivateData.
#pragma once

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/report/models_table.h"

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
/// nodes are hidden, reasons go too: they name nodes.
[[nodiscard]] Plan public_view(Plan plan, const Snapshot& shown);

/// Profiles that all accounts share stay; those of one account go where jobs, usage or accounts are
/// hidden.
[[nodiscard]] ModelsTable public_view(ModelsTable table, const PrivateData& hidden);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Removes names from a snapshot, so that it may leave the site.
#pragma once

#include "lib/core/snapshot.h"
#include "lib/json/models_fit.h"

namespace rubato::tools {

/// `snapshot` with short tokens instead of names: users u1, accounts a1, job names j1, partitions
/// p1, QOS q1, job types t1, Slurm's reservations r1, nodes n001; the cluster is "cluster". Equal
/// names get equal tokens, and the tokens of a kind sort as the names do. The plan for the result
/// is thus the plan for `snapshot` with other names. User ids and free texts (errors in hints,
/// Slurm's reasons for a blocked or refused job) are dropped. GPU types, job ids, times and counts
/// stay.
[[nodiscard]] Snapshot anonymise(const Snapshot& snapshot);

/// The same with the models of its round: an account or a job type has the same token in both.
struct Anonymous {
  Snapshot snapshot;
  ModelsFit fit;
};
[[nodiscard]] Anonymous anonymise(const Snapshot& snapshot, const ModelsFit& fit);

}  // namespace rubato::tools

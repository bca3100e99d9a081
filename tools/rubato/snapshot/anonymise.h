// SPDX-License-Identifier: GPL-2.0-or-later
// A snapshot that may leave the site.
#pragma once

#include "lib/core/snapshot.h"
#include "lib/json/models_fit.h"

namespace rubato::tools {

/// `snapshot` with short tokens in place of names: users u1, accounts a1, job names j1, partitions
/// p1, QOS q1, job types t1, Slurm's reservations r1, nodes n001; the cluster is "cluster". The
/// same name always becomes the same token, and the tokens of a kind sort as the names do, so that
/// the plan for the result is the plan for `snapshot` in other names. Numbers of users and free
/// texts (words about hints, Slurm's words for a blocked or refused job) are dropped. GPU types,
/// job ids, times and counts stay.
[[nodiscard]] Snapshot anonymise(const Snapshot& snapshot);

/// The same together with the models of its round: an account and a job type have one token in
/// both.
struct Anonymous {
  Snapshot snapshot;
  ModelsFit fit;
};
[[nodiscard]] Anonymous anonymise(const Snapshot& snapshot, const ModelsFit& fit);

}  // namespace rubato::tools

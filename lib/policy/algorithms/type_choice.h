// SPDX-License-Identifier: GPL-2.0-or-later
// Stages 2 and 5: which GPU types a job may take, in which order, and how fast it would be there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/model/models.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/pending_queue.h"

namespace rubato {

/// Chooses the types of every entry of the queue: sets PendingEntry::types.
///
/// A job of which nothing is known takes the types by speed. One whose type was measured somewhere
/// has a forecast on every type it accepts; all such jobs are matched to types together, against
/// what runs (match.h), and each waits for the type it was matched to rather than take one that is
/// slower beyond doubt, until it has waited for ReserveAfter or its starvation bound is due: then
/// any type it accepts will do. What its hint
/// `gpu-types` names in order is tried in that order, and forecasts decide between equals only.
///
/// A type that is not known well counts as faster by half of its spread where it has GPUs free: it
/// is tried where trying costs nobody a wait.
///
/// `context.speeds` and `context.fastest` must be filled. The choices live as long as `choices`.
void choose_types(RoundContext& context, const Models& models, const Capacity& capacity,
                  std::vector<std::unique_ptr<const TypeChoice>>& choices);

}  // namespace rubato

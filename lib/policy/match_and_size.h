// SPDX-License-Identifier: GPL-2.0-or-later
// Stage match and size: which GPU types and sizes each pending job may take.
#pragma once

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/prioritise.h"

namespace rubato {

/// The jobs of `order` as a queue, with the GPU types and sizes at which each is to be tried.
[[nodiscard]] PendingQueue match_and_size(const RoundInput& input, const Forecasts& forecasts,
                                          const QueueOrder& order, const Capacity& capacity);

}  // namespace rubato

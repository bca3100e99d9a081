// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/match_and_size.h"

#include "lib/policy/algorithms/type_choice.h"

namespace rubato {

PendingQueue match_and_size(const RoundInput& input, const Forecasts& forecasts,
                            const QueueOrder& order, const Capacity& capacity) {
  PendingQueue queue = make_queue(input, order);
  choose_types(input, forecasts, capacity, queue);
  return queue;
}

}  // namespace rubato

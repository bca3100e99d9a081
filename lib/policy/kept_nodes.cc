// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/kept_nodes.h"

#include <algorithm>
#include <utility>

#include "lib/policy/asked_shrink.h"

namespace rubato {

bool has_room(const Capacity& capacity, const std::vector<NodeShare>& shares, Seconds from,
              Seconds to) {
  return std::ranges::all_of(shares, [&](const NodeShare& share) {
    return std::ranges::all_of(share.gpus, [&](const GpuCount& group) {
      const NodeRoom room = capacity.room(share.node, capacity.type_id(group.type), from, to);
      return room.gpus >= group.count && room.cores >= share.cores && room.memory >= share.memory;
    });
  });
}

std::optional<std::vector<NodeShare>> shares_kept(const Snapshot& snapshot, const Job& job,
                                                  int gpus) {
  if (!shrinks_live(job, gpus)) return std::nullopt;
  auto kept = nodes_kept(snapshot, job, gpus);
  return kept ? std::optional(*std::move(kept)) : std::nullopt;
}

void KeptNodes::hold(std::size_t i, std::vector<NodeShare> shares, Seconds end) {
  if (!has_room(capacity_, shares, now_, std::max(end, now_ + 1))) return;
  for (const NodeShare& share : shares) capacity_.take(share, now_, end);
  kept_.emplace(i, Kept{std::move(shares), end});
}

bool KeptNodes::release(std::size_t i) {
  const auto at = kept_.find(i);
  if (at == kept_.end()) return false;
  give_back(at->second);
  kept_.erase(at);
  return true;
}

void KeptNodes::release() {
  for (const auto& [i, kept] : kept_) give_back(kept);
  released_ = std::exchange(kept_, {});
}

void KeptNodes::hold_again() {
  for (auto& [i, kept] : std::exchange(released_, {})) hold(i, std::move(kept.shares), kept.end);
}

void KeptNodes::give_back(const Kept& kept) {
  for (const NodeShare& share : kept.shares) capacity_.give_back(share, now_, kept.end);
}

}  // namespace rubato

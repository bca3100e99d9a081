// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/reserver.h"

#include <algorithm>
#include <limits>

#include "lib/policy/algorithms/start_time_search.h"

namespace rubato {
bool Reserver::will_be_up(NodeIndex node) const { return input_.snapshot.nodes[node].in_service(); }

TypeId Reserver::type_of(const PendingEntry& entry, const Reservation& reservation) const {
  if (!entry.demand.wants_gpus()) return kNoGpu;
  // "" is a type of its own on nodes that name none, and stands for a mix of types besides.
  const std::vector<TypeId> types = placer_.types_of(entry);
  const bool mixes = reservation.gpu_type.empty() && !types.empty() && types.front() == kAnyGpu;
  return mixes ? kAnyGpu : capacity_.type_id(reservation.gpu_type);
}

Reservation Reserver::make(const PendingEntry& entry, TypeId type, Seconds start,
                           const NodeChoice& choice) const {
  Reservation reservation;
  reservation.job = entry.job->key;
  reservation.partition = entry.job->partition;
  reservation.start = start;
  reservation.gpu_type = capacity_.type_name(type);
  for (const auto& [node, amount] : choice.parts) {
    reservation.shares.push_back(entry.demand.share(input_.snapshot.nodes[node], node, amount,
                                                    static_cast<int>(choice.parts.size()),
                                                    reservation.gpu_type));
    if (type == kAnyGpu && !entry.demand.whole_nodes()) {
      const Seconds from = std::min(start, kForever - 1);
      reservation.shares.back().gpus = capacity_.split(node, amount, from, entry.end(from));
    }
  }
  return reservation;
}

std::optional<Reservation> Reserver::earliest(const PendingEntry& entry, Seconds until) const {
  if (!entry.demand.consistent()) return std::nullopt;
  std::optional<Reservation> best;
  for (const TypeId type : placer_.types_of(entry)) {
    // Fastest first, so a slower type must be strictly earlier.
    const Seconds before = best ? best->start : until;
    const auto found = StartTimeSearch(input_, capacity_, placer_, entry, type).run(before);
    if (found) best = make(entry, type, found->start, found->choice);
  }
  return best;
}

// What is missing on `node` for `amount` once every job with a time limit has ended.
std::int64_t Reserver::lack_on(const PendingEntry& entry, NodeIndex node, TypeId type, int amount,
                               int nodes) const {
  const NodeRoom room = capacity_.room(node, type, kForever - 1, kForever);
  if (entry.demand.whole_nodes()) {
    return capacity_.untouched(node, kForever - 1, kForever) ? 0 : amount;
  }
  const int have = entry.demand.amount_in(room, nodes);
  if (have >= amount) return 0;
  const int gpus = entry.demand.wants_gpus() ? std::max(room.gpus, 0) : std::max(have, 0);
  // Cores or memory may be short where GPUs are not.
  return std::max(amount - gpus, 1);
}

std::vector<NodeCandidate> Reserver::drain_candidates(const PendingEntry& entry,
                                                      TypeId type) const {
  const Demand& demand = entry.demand;
  std::vector<NodeCandidate> candidates;
  for (const NodeIndex node : *entry.later) {
    if (!will_be_up(node) || (type != kNoGpu && !capacity_.has_type(node, type))) continue;
    if (!placer_.accepts(entry, node, type)) continue;
    const NodeRoom total = capacity_.total(node, type);
    NodeCandidate candidate;
    candidate.node = node;
    candidate.amount = demand.amount_in(total, demand.min_nodes());
    candidate.free = demand.wants_gpus() ? total.gpus : total.cores;
    if (candidate.amount == 0) continue;
    candidate.weight = static_cast<std::uint64_t>(
        lack_on(entry, node, type, candidate.amount, demand.min_nodes()));
    candidates.push_back(candidate);
  }
  return candidates;
}

std::optional<Reservation> Reserver::drain(const PendingEntry& entry) const {
  if (!entry.demand.consistent()) return std::nullopt;
  std::optional<Reservation> best;
  std::int64_t least = 0;
  for (const TypeId type : placer_.types_of(entry)) {
    const auto choice =
        choose(drain_candidates(entry, type), entry.demand, entry.demand.min_nodes());
    if (!choice) continue;
    Reservation reservation = make(entry, type, kForever, *choice);
    const std::int64_t lacking = lack(entry, reservation);
    if (best && least <= lacking) continue;
    best = std::move(reservation);
    least = lacking;
  }
  return best;
}

std::int64_t Reserver::lack(const PendingEntry& entry, const Reservation& drain) const {
  const TypeId type = type_of(entry, drain);
  const int nodes = static_cast<int>(drain.shares.size());
  std::int64_t sum = 0;
  for (const NodeShare& share : drain.shares) {
    const int amount = type == kNoGpu ? share.cores : share.gpu_count();
    sum += lack_on(entry, share.node, type, amount, nodes);
  }
  return sum;
}

bool Reserver::matches(const PendingEntry& entry, const Reservation& reservation) const {
  const Demand& demand = entry.demand;
  const int nodes = static_cast<int>(reservation.shares.size());
  if (!demand.consistent() || nodes < demand.min_nodes() || nodes > demand.max_nodes())
    return false;
  const TypeId type = type_of(entry, reservation);
  const auto types = placer_.types_of(entry);
  if (std::find(types.begin(), types.end(), type) == types.end()) return false;
  std::int64_t carried = 0;
  for (const NodeShare& share : reservation.shares) {
    const bool there = std::binary_search(entry.later->begin(), entry.later->end(), share.node);
    if (!there || !will_be_up(share.node)) return false;
    int amount = share.cores;
    if (demand.wants_gpus()) {
      amount = 0;
      for (const GpuCount& group : share.gpus) {
        if (type == kAnyGpu || group.type == reservation.gpu_type) amount += group.count;
      }
    }
    const Node& node = input_.snapshot.nodes[share.node];
    NodeShare wanted = demand.share(node, share.node, amount, nodes, reservation.gpu_type);
    if (type == kAnyGpu && !demand.whole_nodes()) wanted.gpus = share.gpus;
    if (wanted != share) return false;
    const bool parts = demand.whole_nodes() || amount % demand.quantum() == 0;
    if (amount < demand.least() || !parts) return false;
    carried += amount;
  }
  if (demand.shape() == Demand::Shape::kGpusPerNode) return true;
  const bool exact = demand.wants_gpus() && !demand.whole_nodes();
  return exact ? carried == demand.total() : carried >= demand.total();
}

bool Reserver::nodes_stay(const Reservation& reservation) const {
  return std::all_of(reservation.shares.begin(), reservation.shares.end(),
                     [&](const NodeShare& share) { return will_be_up(share.node); });
}

std::string Reserver::lost_node(const Reservation& reservation) const {
  for (const NodeShare& share : reservation.shares) {
    if (!will_be_up(share.node)) return input_.snapshot.nodes[share.node].name;
  }
  return {};
}

std::string Reserver::in_the_way(const PendingEntry& entry, const Reservation& reservation) const {
  const Seconds start = std::max(reservation.start, input_.now + 1);
  for (const NodeShare& share : reservation.shares) {
    const std::string& name = input_.snapshot.nodes[share.node].name;
    for (const Job& job : input_.snapshot.jobs) {
      const auto here = [&](const NodeShare& held) { return held.node == share.node; };
      const bool since = job.state == JobState::kRunning && job.start >= reservation.made;
      if (since && job.end_limit > start && std::ranges::any_of(job.allocation, here))
        return "job " + job.label + " started on " + name;
    }
    const BookedReservation* other = placer_.reservations().conflicting_reservation(
        share.node, entry.job->key, entry.end(start), EntryIndex{std::numeric_limits<int>::max()});
    if (other != nullptr)
      return "job " + std::to_string(other->reservation.job.id) + " has " + name + " before";
  }
  return "less is free on its nodes than before";
}

std::vector<NodeCandidate> Reserver::backfill_candidates(const PendingEntry& entry, TypeId type,
                                                         Seconds start) const {
  const int nodes = static_cast<int>(entry.job->stock_nodes.size());
  std::vector<NodeCandidate> candidates;
  for (const NodeIndex node : entry.job->stock_nodes) {
    if (!will_be_up(node) || (type != kNoGpu && !capacity_.has_type(node, type))) continue;
    const NodeRoom room = capacity_.room(node, type, start, std::min(entry.end(start), kForever));
    NodeCandidate candidate;
    candidate.node = node;
    candidate.amount = entry.demand.amount_in(room, nodes);
    candidate.free = entry.demand.wants_gpus() ? room.gpus : room.cores;
    if (candidate.amount > 0) candidates.push_back(candidate);
  }
  return candidates;
}

std::optional<Reservation> Reserver::of_backfill(const PendingEntry& entry) const {
  const Job& job = *entry.job;
  if (!entry.demand.consistent() || job.stock_nodes.empty()) return std::nullopt;
  const Seconds start = std::max(job.stock_start, input_.now + 1);
  for (const TypeId type : placer_.types_of(entry)) {
    const auto choice = choose(backfill_candidates(entry, type, start), entry.demand,
                               static_cast<int>(job.stock_nodes.size()));
    if (!choice) continue;
    Reservation found = make(entry, type, start, *choice);
    found.backfill = true;
    return found;
  }
  return std::nullopt;
}

bool Reserver::free_between(const PendingEntry& entry, const Reservation& reservation, Seconds from,
                            Seconds to) const {
  const auto free = [&](const NodeShare& share) {
    if (entry.demand.whole_nodes()) return capacity_.untouched(share.node, from, to);
    const NodeRoom room = capacity_.room(share.node, kNoGpu, from, to);
    if (room.cores < share.cores || room.memory < share.memory) return false;
    return std::all_of(share.gpus.begin(), share.gpus.end(), [&](const GpuCount& group) {
      const TypeId type = capacity_.type_id(group.type);
      return capacity_.room(share.node, type, from, to).gpus >= group.count;
    });
  };
  return std::all_of(reservation.shares.begin(), reservation.shares.end(), free);
}

bool Reserver::still_valid(const PendingEntry& entry, const Reservation& reservation) const {
  // A start that has passed: what is in the way ends within the next second by its limit.
  const Seconds start = std::max(reservation.start, input_.now + 1);
  for (const NodeShare& share : reservation.shares) {
    if (placer_.in_a_window(entry, share.node, start)) return false;
  }
  // Drains yield.
  return free_between(entry, reservation, start, std::min(entry.end(start), kForever - 1));
}

bool Reserver::ripe(const PendingEntry& entry, const Reservation& reservation) const {
  const Seconds now = input_.now;
  if (reservation.start > now || reservation.partition != entry.job->partition) return false;
  const bool open = std::all_of(
      reservation.shares.begin(), reservation.shares.end(), [&](const NodeShare& share) {
        return std::binary_search(entry.nodes->begin(), entry.nodes->end(), share.node) &&
               placer_.open(entry, share.node);
      });
  return open && free_between(entry, reservation, now, std::min(entry.end(now), kForever - 1));
}

}  // namespace rubato

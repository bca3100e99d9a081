// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 6: named nodes at a time for jobs that must not starve.
//
// Who has one: jobs whose starvation bound is due, that is, which have waited half of it; then
// those that had one in the round before; then the first job of the order that cannot start, and
// those that waited longer than ReserveAfter. At most ReserveDepth in all. Until it has waited for
// ReserveAfter, the first of the order keeps its place from the jobs below it only: one that is put
// above it later goes before it.
//
// When: the earliest time from which the whole gang fits for its whole time limit, if every job
// runs to its time limit, beside all reservations before it and what stock backfill has planned
// for earlier jobs.
//
// Where jobs without a time limit are in the way there is no such time. Then the reservation is a
// drain: its start is kForever and no other job without a limit starts on its share of the nodes,
// while jobs with one do. It takes the nodes that lack least once all jobs with limits have ended.
// As these come free they stay free, so the gang gathers its nodes, and once the last job without a
// limit has left them the reservation gets a start. While it drains, it moves only to nodes that
// lack less. A drain yields to reservations with a start, also of jobs without a limit.
#pragma once

#include <optional>
#include <string>

#include "lib/policy/algorithms/placer.h"
#include "lib/policy/algorithms/reservation_table.h"

namespace rubato {

class Reserver {
 public:
  Reserver(const RoundInput& input, const Capacity& capacity, const Placer& placer)
      : input_(input), capacity_(capacity), placer_(placer) {}

  /// Nodes and start for `entry` with the capacity as it is, before `until`; nothing if there is no
  /// such start. `reason` and `made` are left at their defaults.
  [[nodiscard]] std::optional<Reservation> earliest(const PendingEntry& entry, Seconds until) const;
  /// A drain for `entry`; nothing if its nodes could not carry it even when empty.
  [[nodiscard]] std::optional<Reservation> drain(const PendingEntry& entry) const;
  /// What the nodes of `drain` lack even if all jobs with a time limit have ended, counted in GPUs
  /// (cores for jobs without). The reservation must be out of the capacity.
  [[nodiscard]] std::int64_t lack(const PendingEntry& entry, const Reservation& drain) const;

  /// The nodes of `entry` could carry it if nothing ran on them.
  [[nodiscard]] bool possible(const PendingEntry& entry) const { return drain(entry).has_value(); }
  /// The GPU type of the reservation; kAnyGpu if it mixes types.
  [[nodiscard]] TypeId type_of(const PendingEntry& entry, const Reservation& reservation) const;
  /// The shares are what `entry` asks for, on nodes it may use some day.
  [[nodiscard]] bool matches(const PendingEntry& entry, const Reservation& reservation) const;
  /// Where and when stock backfill means to start `entry` (Job::stock_start, stock_nodes), with the
  /// GPUs, cores and memory that the model sees for it there; nothing if there is no such room.
  [[nodiscard]] std::optional<Reservation> of_backfill(const PendingEntry& entry) const;
  /// All nodes of the reservation are up, or will be.
  [[nodiscard]] bool nodes_stay(const Reservation& reservation) const;
  /// The name of the first node for which nodes_stay() fails.
  [[nodiscard]] std::string lost_node(const Reservation& reservation) const;
  /// What holds the shares of `reservation` at its start, in words: a job that started since it was
  /// made, or another reservation.
  [[nodiscard]] std::string in_the_way(const PendingEntry& entry,
                                       const Reservation& reservation) const;
  /// `entry` can start now on the shares of its reservation, whose start has come. Drains are no
  /// obstacle: they yield to every reservation with a start.
  [[nodiscard]] bool ripe(const PendingEntry& entry, const Reservation& reservation) const;
  /// The shares are free from the start of `reservation`, or now, on until the time limit.
  [[nodiscard]] bool still_valid(const PendingEntry& entry, const Reservation& reservation) const;

 private:
  [[nodiscard]] Reservation make(const PendingEntry& entry, TypeId type, Seconds start,
                                 const NodeChoice& choice) const;
  [[nodiscard]] bool will_be_up(NodeIndex node) const;
  [[nodiscard]] bool free_between(const PendingEntry& entry, const Reservation& reservation,
                                  Seconds from, Seconds to) const;
  [[nodiscard]] std::int64_t lack_on(const PendingEntry& entry, NodeIndex node, TypeId type,
                                     int amount, int nodes) const;
  [[nodiscard]] std::vector<NodeCandidate> backfill_candidates(const PendingEntry& entry,
                                                               TypeId type, Seconds start) const;
  [[nodiscard]] std::vector<NodeCandidate> drain_candidates(const PendingEntry& entry,
                                                            TypeId type) const;

  const RoundInput& input_;
  const Capacity& capacity_;
  const Placer& placer_;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The reservations that stand at a moment of the round, and their claim on the capacity.
#pragma once

#include <vector>

#include "lib/core/snapshot.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/pending_queue.h"

namespace rubato {

/// Its start is promised: it holds against the jobs above it too. The first of the queue has none
/// yet.
[[nodiscard]] inline bool is_promise(const Reservation& reservation) {
  return reservation.reason != ReserveReason::kFirst && reservation.start < kForever;
}

/// A reservation with what it takes of the capacity.
struct BookedReservation {
  Reservation reservation;
  EntryIndex order = 0;  ///< of the entry it is for
  Seconds from = 0;      ///< its start, or now if that has passed
  Seconds to = 0;        ///< when it ends by its time limit
};

/// The reservation of `job`; null if it has none. `reservations` are sorted by job.
[[nodiscard]] const BookedReservation* reservation_of(
    const std::vector<BookedReservation>& reservations, const JobKey& job);

class ReservationTable {
 public:
  explicit ReservationTable(Capacity& capacity);
  /// With reservations that are sorted by job and taken from `capacity` already.
  ReservationTable(Capacity& capacity, std::vector<BookedReservation> booked);

  /// Takes the shares from the capacity. One reservation a job.
  void add(Reservation reservation, EntryIndex order, Seconds time_limit);
  /// Takes it out again and returns it. The job must have one.
  BookedReservation remove(const JobKey& job);
  /// Puts back what `remove` returned.
  void restore(BookedReservation booked);

  [[nodiscard]] const BookedReservation* find(const JobKey& job) const;
  [[nodiscard]] const std::vector<BookedReservation>& all() const {
    return booked_;
  }  ///< sorted by job
  /// The first (by start, then job) of the reservations on `node` that a job of another key,
  /// running there until `end`, would run into; only those of an order below `before`.
  [[nodiscard]] const BookedReservation* conflicting_reservation(NodeIndex node, const JobKey& job,
                                                                 Seconds end,
                                                                 EntryIndex before) const;

 private:
  Capacity& capacity_;
  std::vector<BookedReservation> booked_;
  std::vector<int> on_node_;  ///< number of reservations by node
};

}  // namespace rubato

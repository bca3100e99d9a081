// SPDX-License-Identifier: GPL-2.0-or-later
// Stage reserve: which jobs hold a reservation, and how it lives from round to round. reserver.h
// finds the nodes and the start of one reservation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/reservation_table.h"
#include "lib/policy/algorithms/reserver.h"
#include "lib/policy/algorithms/round_input.h"
#include "lib/policy/budget.h"

namespace rubato {

/// A reservation that a job may have before the queue is handled: one of the round before, or a
/// new one because its starvation bound is due.
struct ExistingReservation {
  const PendingEntry* entry;
  Reservation reservation;
  bool fresh;  ///< the job had none in the round before
  bool due;    ///< its starvation bound is due
  bool stays;  ///< unchanged
};

/// The reservations that hold before any job starts.
struct ExistingReservations {
  Capacity capacity;                      ///< what is free beside `booked`
  std::vector<BookedReservation> booked;  ///< sorted by job
  /// Reservations that yield to jobs above: each is booked when the queue reaches its job.
  std::map<JobKey, ExistingReservation> yielding;
};

/// Carries the reservations of the round before over into this one. `capacity` has no reservation
/// in it.
[[nodiscard]] ExistingReservations reserve(const RoundInput& input, const Forecasts& forecasts,
                                           const PendingQueue& queue, const JobHistory& history,
                                           const Budget& budget, Capacity capacity);

/// The rules by which jobs get, keep and move reservations. The stages reserve and place use it.
class ReservationRules {
 public:
  using Yielding = std::map<JobKey, ExistingReservation>;

  /// All must outlive the rules; `reserver` and `table` share one Capacity.
  ReservationRules(const RoundInput& input, const PendingQueue& queue, const JobHistory& history,
                   const Budget& budget, const Reserver& reserver, ReservationTable& table,
                   Yielding yielding = {});

  /// Books the existing reservations, or moves them. Those that yield are set aside.
  void carry_over();
  /// Those set aside and not booked yet.
  [[nodiscard]] const Yielding& yielding() const { return yielding_; }
  /// The queue has reached `entry`: books its reservation if that was set aside. True if the table
  /// may have changed.
  bool restore_existing(const PendingEntry& entry);
  /// `entry` cannot start. `own` is its reservation, taken out of the table: puts it back, or a
  /// better one. Else makes a new one if the job may have it. Returns the GPUs reserved for other
  /// jobs if these are the reason why it gets none, else 0.
  int reserve_for(const PendingEntry& entry, std::optional<BookedReservation> own);

 private:
  [[nodiscard]] int depth() const;
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool can_reserve(const PendingEntry& entry) const;
  [[nodiscard]] bool may_hold(const PendingEntry& entry) const;
  [[nodiscard]] bool by_backfill(const PendingEntry& entry) const;
  [[nodiscard]] bool starvation_due(const PendingEntry& entry) const;
  [[nodiscard]] bool waited_long(const PendingEntry& entry) const;
  [[nodiscard]] const PendingEntry* entry_of(const Reservation& reservation) const;
  [[nodiscard]] std::vector<ExistingReservation> existing_reservations() const;
  [[nodiscard]] std::vector<ExistingReservation> candidates() const;
  [[nodiscard]] static bool yields(const ExistingReservation& one);
  [[nodiscard]] bool still_valid(const ExistingReservation& one) const;
  void book_valid(std::vector<ExistingReservation>& all);
  void relocate(const ExistingReservation& one);
  void relocate_below(const ExistingReservation& one);
  void note_delay(const ExistingReservation& one, Reservation& moved) const;
  [[nodiscard]] std::optional<Reservation> find_reservation(const PendingEntry& entry) const;
  void restore_or_improve(const PendingEntry& entry, BookedReservation own);
  void reserve_new(const PendingEntry& entry, bool first);
  void add(Reservation reservation, const PendingEntry& entry);
  /// Slurm refused the start of `entry` at `start` or since.
  [[nodiscard]] bool refused_since(const PendingEntry& entry, Seconds start) const;
  [[nodiscard]] int reserved_gpus() const;
  [[nodiscard]] std::optional<JobKey> longest_waiting() const;
  [[nodiscard]] bool room_to_reserve(const PendingEntry& entry) const;

  const RoundInput& input_;
  const PendingQueue& queue_;
  const JobHistory& history_;
  const Budget& budget_;
  const Reserver& reserver_;
  ReservationTable& table_;
  Yielding yielding_;
  std::optional<JobKey> longest_;  ///< longest_waiting()
  std::int64_t all_gpus_ = 0;      ///< of the cluster
  bool first_seen_ = false;        ///< the first managed job that cannot start was handled
};

}  // namespace rubato

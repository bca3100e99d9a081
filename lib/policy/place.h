// SPDX-License-Identifier: GPL-2.0-or-later
// Goes down the queue once and decides about every entry: stages 5 (place) and 6 (reserve).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/entry_outcome.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/placer.h"
#include "lib/policy/algorithms/reservation_table.h"
#include "lib/policy/algorithms/reserver.h"
#include "lib/policy/budget.h"

namespace rubato {

class SchedulingPass {
 public:
  SchedulingPass(const RoundContext& context, Capacity& capacity);

  /// Decides about all. Call once.
  void run();

  [[nodiscard]] const std::vector<EntryOutcome>& outcomes() const {
    return outcomes_;
  }  ///< by order
  [[nodiscard]] std::vector<Start>& starts() { return starts_; }
  [[nodiscard]] const ReservationTable& reservation_table() const { return reservation_table_; }
  [[nodiscard]] History& history() { return history_; }

 private:
  void decide(const PendingEntry& entry);
  void decide_managed(const PendingEntry& entry, EntryOutcome& outcome);
  void decide_unmanaged(const PendingEntry& entry, EntryOutcome& outcome);
  /// Starts as many tasks of it as have room; true if all.
  bool start_tasks(const PendingEntry& entry, EntryOutcome& outcome, const BookedReservation* own);
  [[nodiscard]] std::optional<Placement> find_room(const PendingEntry& entry, PendingEntry& as);
  void start(const PendingEntry& entry, const Placement& placement);
  void configure(const PendingEntry& entry, Placement& placement) const;
  void attempt(const PendingEntry& entry, EntryOutcome& outcome);
  void close_partition(const PendingEntry& entry);
  void finish();
  void explain_started_elsewhere(const PendingEntry& entry, EntryOutcome& outcome) const;
  void cannot_start(const PendingEntry& entry, EntryOutcome& outcome,
                    std::optional<BookedReservation> own);
  [[nodiscard]] bool skip(const PendingEntry& entry, EntryOutcome& outcome);

  // Reservations (standing.cc).
  struct ExistingReservation {
    const PendingEntry* entry;
    Reservation reservation;
    bool fresh;  ///< it had none in the round before
    bool due;
    bool stays;  ///< as it is
  };
  [[nodiscard]] int depth() const;
  [[nodiscard]] bool can_reserve(const PendingEntry& entry) const;
  [[nodiscard]] bool starvation_due(const PendingEntry& entry) const;
  [[nodiscard]] bool waited_long(const PendingEntry& entry) const;
  [[nodiscard]] const PendingEntry* entry_of(const Reservation& reservation) const;
  [[nodiscard]] std::vector<ExistingReservation> existing_reservations() const;
  [[nodiscard]] static bool yields(const ExistingReservation& one);
  void carry_over_reservations();
  /// Books what `entry` held in the round before, if that was left for its turn.
  void restore_existing(const PendingEntry& entry);
  [[nodiscard]] bool still_valid(const ExistingReservation& one) const;
  void relocate(const ExistingReservation& one);
  void relocate_below(const ExistingReservation& one);
  [[nodiscard]] std::optional<Reservation> find_reservation(const PendingEntry& entry) const;
  void restore_or_improve(const PendingEntry& entry, BookedReservation own);
  void reserve_new(const PendingEntry& entry, bool first);
  [[nodiscard]] int reserved_gpus() const;
  [[nodiscard]] std::optional<JobKey> longest_waiting() const;
  [[nodiscard]] bool room_to_reserve(const PendingEntry& entry) const;

  const RoundContext& context_;
  Capacity& capacity_;
  ReservationTable reservation_table_;
  Placer placer_;
  Reserver reserver_;
  History history_;
  Budget budget_;
  std::vector<EntryOutcome> outcomes_;
  std::vector<Start> starts_;
  std::map<JobKey, ExistingReservation> yielding_;
  std::set<JobKey> started_;
  std::set<std::string> waiting_partitions_;  ///< with an unmanaged job that found no room
  std::optional<JobKey> longest_;             ///< longest_waiting()
  std::int64_t all_gpus_ = 0;                 ///< of the cluster
  bool first_seen_ = false;  ///< the first managed job that cannot start has been met
};

}  // namespace rubato

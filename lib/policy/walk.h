// SPDX-License-Identifier: GPL-2.0-or-later
// Goes down the queue once and decides about every entry: stages 5 (place) and 6 (reserve).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/book.h"
#include "lib/policy/budget.h"
#include "lib/policy/capacity.h"
#include "lib/policy/context.h"
#include "lib/policy/history.h"
#include "lib/policy/outcome.h"
#include "lib/policy/place.h"
#include "lib/policy/reserve.h"

namespace rubato {

class Walk {
 public:
  Walk(const RoundContext& context, Capacity& capacity);

  /// Decides about all. Call once.
  void run();

  [[nodiscard]] const std::vector<Outcome>& outcomes() const { return outcomes_; }  ///< by order
  [[nodiscard]] std::vector<Start>& starts() { return starts_; }
  [[nodiscard]] const Book& book() const { return book_; }
  [[nodiscard]] History& history() { return history_; }

 private:
  void visit(const Entry& entry);
  void visit_managed(const Entry& entry, Outcome& outcome);
  void visit_unmanaged(const Entry& entry, Outcome& outcome);
  /// Starts as many tasks of it as have room; true if all.
  bool start_tasks(const Entry& entry, Outcome& outcome, const Booked* own);
  [[nodiscard]] std::optional<Placement> find_room(const Entry& entry, Entry& as);
  void start(const Entry& entry, const Placement& placement);
  void configure(const Entry& entry, Placement& placement) const;
  void attempt(const Entry& entry, Outcome& outcome);
  void close_partition(const Entry& entry);
  void settle();
  void tell_other(const Entry& entry, Outcome& outcome) const;
  void cannot_start(const Entry& entry, Outcome& outcome, std::optional<Booked> own);
  [[nodiscard]] bool skip(const Entry& entry, Outcome& outcome);

  // Reservations (standing.cc).
  struct Standing {
    const Entry* entry;
    Reservation reservation;
    bool fresh;  ///< it had none in the round before
    bool due;
    bool stays;  ///< as it is
  };
  [[nodiscard]] int depth() const;
  [[nodiscard]] bool can_reserve(const Entry& entry) const;
  [[nodiscard]] bool starvation_due(const Entry& entry) const;
  [[nodiscard]] bool waited_long(const Entry& entry) const;
  [[nodiscard]] const Entry* entry_of(const Reservation& reservation) const;
  [[nodiscard]] std::vector<Standing> standing() const;
  [[nodiscard]] static bool yields(const Standing& one);
  void carry_over();
  /// Books what `entry` held in the round before, if that was left for its turn.
  void book_standing(const Entry& entry);
  [[nodiscard]] bool holds(const Standing& one) const;
  void find_home(const Standing& one);
  void find_home_below(const Standing& one);
  [[nodiscard]] std::optional<Reservation> find_reservation(const Entry& entry) const;
  void restore_or_better(const Entry& entry, Booked own);
  void reserve_new(const Entry& entry, bool first);
  [[nodiscard]] int reserved_gpus() const;
  [[nodiscard]] std::optional<JobKey> longest_waiting() const;
  [[nodiscard]] bool room_to_reserve(const Entry& entry) const;

  const RoundContext& context_;
  Capacity& capacity_;
  Book book_;
  Placer placer_;
  Reserver reserver_;
  History history_;
  Budget budget_;
  std::vector<Outcome> outcomes_;
  std::vector<Start> starts_;
  std::map<JobKey, Standing> yielding_;
  std::set<JobKey> started_;
  std::set<std::string> waiting_partitions_;  ///< with an unmanaged job that found no room
  std::optional<JobKey> longest_;             ///< longest_waiting()
  std::int64_t all_gpus_ = 0;                 ///< of the cluster
  bool first_seen_ = false;  ///< the first managed job that cannot start has been met
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Why a job starts, waits or has a reservation, in words and numbers.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/algorithms/entry_outcome.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/job_history.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/reservation_table.h"

namespace rubato {

/// Begins the reason of a job that slurmctld is asked to start although Rubato finds no room.
inline constexpr std::string_view kSlurmIsAsked =
    "Slurm is asked, though there seems to be no room: ";

/// A sentence and the numbers in it: what is said with `say` is a fact as well.
class Account {
 public:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  /// Enters a fact and gives its value back for the sentence. A name stands once; the first value
  /// stays.
  std::string say(const std::string& name, std::string value);
  template <typename Number>
  requires std::is_integral_v<Number> std::string say(const std::string& name, Number value) {
    return say(name, std::to_string(value));
  }

  std::string reason;
  Facts facts;
};

class Explainer {
 public:
  /// `reservations` are those of the plan, sorted by job. All must outlive the Explainer.
  Explainer(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity,
            const JobHistory& history, const std::vector<BookedReservation>& reservations)
      : input_(input),
        forecasts_(forecasts),
        capacity_(capacity),
        history_(history),
        reservations_(reservations) {}

  [[nodiscard]] Explanation explain(const PendingEntry& entry, const EntryOutcome& outcome);

 private:
  void standing(const PendingEntry& entry, Account& account) const;
  void decided(const PendingEntry& entry, const EntryOutcome& outcome, Account& account);
  void started(const PendingEntry& entry, const EntryOutcome& outcome, Account& account) const;
  void attempted(const PendingEntry& entry, const EntryOutcome& outcome, Account& account);
  void reserved(const PendingEntry& entry, const BookedReservation& booked, Account& account) const;
  void outbid(const PendingEntry& entry, const EntryOutcome& outcome, Account& account) const;
  void refused(const PendingEntry& entry, const EntryOutcome& outcome, Account& account) const;
  void short_of(const PendingEntry& entry, const PlacementFailure& failure, Account& account);
  [[nodiscard]] Account shortage(const PendingEntry& entry, const PlacementFailure& failure) const;
  static void nodes_short(const PlacementFailure& failure, Account& a);
  void gpus_short(const PendingEntry& entry, const PlacementFailure& failure, Account& a) const;
  static void room_short(const PlacementFailure& failure, Account& a);
  void kept_for_others(const PendingEntry& entry, const PlacementFailure& failure,
                       Account& a) const;
  void forecasts(const PendingEntry& entry, Account& account) const;
  void slower_type(const PendingEntry& entry, const Placement& placement, Account& account) const;
  void on_cpus(const PendingEntry& entry, int gpus, Account& account) const;
  void size(const PendingEntry& entry, const Placement& placement, Account& account) const;
  /// What became of each size that the hints allow, in the sentence, as facts, and in `to`.
  void sizes(const PendingEntry& entry, const EntryOutcome& outcome, Account& account,
             std::vector<SizeOutcome>& to) const;
  static void name_sizes(const std::vector<std::pair<int, std::string>>& rejected, int own,
                         Account& account);
  [[nodiscard]] std::string why_as_requested(const PendingEntry& entry) const;
  void level(const PendingEntry& entry, Account& account) const;
  [[nodiscard]] std::string need_by(const JobNeed& need, const Job& job) const;
  void need(const PendingEntry& entry, const EntryOutcome& outcome, Account& account) const;
  void predictable(const PendingEntry& entry, const Service& service, Account& account) const;
  [[nodiscard]] std::string forecast_of(const TypeChoice& choice, TypeId type,
                                        Account& account) const;
  [[nodiscard]] std::string wanted(const PendingEntry& entry, Account& account) const;
  [[nodiscard]] std::string free_gpus(const PlacementFailure& failure, Account& account) const;
  [[nodiscard]] std::vector<std::string> names(const std::vector<NodeShare>& shares) const;
  void interval(const PendingEntry& entry, const EntryOutcome& outcome,
                const BookedReservation* booked, Explanation& to) const;

  const RoundInput& input_;
  const Forecasts& forecasts_;
  const Capacity& capacity_;
  const JobHistory& history_;
  const std::vector<BookedReservation>& reservations_;
  std::unordered_map<const PlacementFailure*, Account> cache_;
};

}  // namespace rubato

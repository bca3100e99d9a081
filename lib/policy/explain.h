// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 9: why each job was decided upon as it was, in words and numbers.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/core/plan.h"
#include "lib/policy/book.h"
#include "lib/policy/context.h"
#include "lib/policy/history.h"
#include "lib/policy/outcome.h"

namespace rubato {

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
  Explainer(const RoundContext& context, const Capacity& capacity, const Book& book,
            const History& history)
      : context_(context), capacity_(capacity), book_(book), history_(history) {}

  [[nodiscard]] Explanation explain(const Entry& entry, const Outcome& outcome);

 private:
  void standing(const Entry& entry, Account& account) const;
  void decided(const Entry& entry, const Outcome& outcome, Account& account);
  void started(const Entry& entry, const Outcome& outcome, Account& account) const;
  void attempted(const Entry& entry, const Outcome& outcome, Account& account);
  void reserved(const Entry& entry, const Booked& booked, Account& account) const;
  void refused(const Entry& entry, const Outcome& outcome, Account& account) const;
  void short_of(const Entry& entry, const Failure& failure, Account& account);
  [[nodiscard]] Account shortage(const Entry& entry, const Failure& failure) const;
  static void nodes_short(const Failure& failure, Account& a);
  void gpus_short(const Entry& entry, const Failure& failure, Account& a) const;
  static void room_short(const Failure& failure, Account& a);
  void kept_for_others(const Entry& entry, const Failure& failure, Account& a) const;
  void forecasts(const Entry& entry, Account& account) const;
  void size(const Entry& entry, const Placement& placement, Account& account) const;
  void level(const Entry& entry, Account& account) const;
  void need(const Entry& entry, const Outcome& outcome, Account& account) const;
  void predictable(const Entry& entry, const Service& service, Account& account) const;
  [[nodiscard]] std::string forecast_of(const TypeChoice& choice, TypeId type,
                                        Account& account) const;
  [[nodiscard]] std::string wanted(const Entry& entry, Account& account) const;
  [[nodiscard]] std::string free_gpus(const Failure& failure, Account& account) const;
  [[nodiscard]] std::vector<std::string> names(const std::vector<NodeShare>& shares) const;
  void interval(const Entry& entry, const Outcome& outcome, const Booked* booked,
                Explanation& to) const;

  const RoundContext& context_;
  const Capacity& capacity_;
  const Book& book_;
  const History& history_;
  std::unordered_map<const Failure*, Account> cache_;
};

}  // namespace rubato

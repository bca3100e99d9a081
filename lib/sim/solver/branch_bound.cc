// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/branch_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "lib/base/hash.h"
#include "lib/sim/solver/assignment_dual.h"

namespace rubato::sim {
namespace {

constexpr std::size_t kFirstWidth = 16;
constexpr std::size_t kWiden = 8;
/// Factors for further prices around the best ones; these bound better if a type is nearly full or
/// nearly free.
constexpr double kFactors[] = {0.5, 0.8, 0.9, 0.96, 1.04, 1.1, 1.25, 2};
constexpr double kRounding = 1e-9;  ///< relative, of sums
constexpr double kNever = -std::numeric_limits<double>::infinity();

/// An entry that a row may choose: an index into its candidates.
using CandidateIndex = Index<struct AssignmentCandidateTag>;

/// The sets of free GPUs after the first jobs of the order, each with the maximum worth of these
/// jobs.
struct States {
  explicit States(std::size_t count) : types(count) {}

  [[nodiscard]] std::size_t size() const { return worth.size(); }
  [[nodiscard]] std::span<const int> free_of(std::size_t state) const {
    return {free.data() + state * types, types};
  }

  std::size_t types;
  std::vector<int> free;  ///< of each type, state after state
  std::vector<double> worth;
  std::vector<double> bound;             ///< upper bound of all solutions from this state
  std::vector<std::uint32_t> parents;    ///< index in the previous layer
  std::vector<std::int16_t> candidates;  ///< a CandidateIndex of the job's row, in few bytes
};

/// Finds a state by its free GPUs.
class StateTable {
 public:
  explicit StateTable(const States& states) : states_(states), slots_(1024, kEmpty) {}

  /// The index of the state with `free`. If there is none, registers the next one: states.size().
  std::size_t find_or_enter(std::span<const int> free) {
    if (2 * states_.size() >= slots_.size()) grow();
    const std::size_t slot = slot_of(free);
    if (slots_[slot] == kEmpty) slots_[slot] = static_cast<std::uint32_t>(states_.size());
    return slots_[slot];
  }

 private:
  static constexpr std::uint32_t kEmpty = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::size_t slot_of(std::span<const int> free) const {
    const std::uint64_t hash = hash_bytes(free.data(), free.size_bytes());
    std::size_t slot = hash & (slots_.size() - 1);
    while (slots_[slot] != kEmpty && !std::ranges::equal(states_.free_of(slots_[slot]), free)) {
      slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), kEmpty);
    for (std::size_t s = 0; s < states_.size(); ++s) {
      slots_[slot_of(states_.free_of(s))] = static_cast<std::uint32_t>(s);
    }
  }

  const States& states_;
  std::vector<std::uint32_t> slots_;
};

class Search {
 public:
  Search(const AssignmentProblem& choice, const BranchOptions& options)
      : options_(options), rows_(candidates_of(choice)), gpus_(choice.gpus) {
    all_gpus_ = std::accumulate(gpus_.begin(), gpus_.end(), std::int64_t{0});
    for (const auto t : indices<TypeIndex>(gpus_)) leave_unusable(t);
    chosen_.resize(rows_.size());
    whole_ = std::ranges::all_of(rows_, [](const auto& row) {
      return std::ranges::all_of(row, [](const AssignmentCandidate& one) {
        return one.worth == std::floor(one.worth) && one.worth < 1e12;
      });
    });
  }

  Result<Branched> run() {
    set_prices();
    order_jobs();
    sum_rests();
    for (std::size_t width = kFirstWidth;; width *= kWiden) {
      pass(width);
      if (bound_ < wanted() || bound_ <= best_) break;
      if (states_ >= options_.max_states) return fail(how_far());
    }
    return Branched{chosen_, -best_, -std::max(bound_, best_), states_};
  }

 private:
  /// The worth from which a solution is better by more than the gap.
  [[nodiscard]] double wanted() const {
    const double by = std::max(options_.gap, kRounding) * best_;
    // A bound is a rounded sum and may be too low.
    return best_ + (whole_ ? std::max(by, 1 - kRounding * std::max(best_, 1.0)) : by);
  }

  /// Removes GPUs that no sum of candidates can use: pricing them would only weaken the bound.
  void leave_unusable(TypeIndex type) {
    int unit = 0;
    for (const auto& row : rows_) {
      for (const AssignmentCandidate& one : row) {
        if (one.type == type) unit = std::gcd(unit, one.gpus);
      }
    }
    if (unit > 1) gpus_[type] -= gpus_[type] % unit;
  }

  void set_prices() {
    const Prices best = best_prices(rows_, gpus_);
    prices_.push_back(best);
    for (const auto t : indices<TypeIndex>(best)) {
      for (const double factor : kFactors) {
        prices_.push_back(best);
        prices_.back()[t] *= factor;
      }
    }
    bound_ = dual_worth(rows_, gpus_, best);
  }

  /// Maximum GPUs among the candidates with the highest gain of a row, at the best prices.
  [[nodiscard]] int likely_gpus(std::size_t row) const {
    const double most = max_gain(rows_[row], prices_.front());
    int gpus = 0;
    for (const AssignmentCandidate& one : rows_[row]) {
      const double gain = one.worth - prices_.front()[one.type] * one.gpus;
      if (gain >= most * (1 - kRounding)) gpus = std::max(gpus, one.gpus);
    }
    return gpus;
  }

  /// Large jobs come first. Small ones then fill the rest, which finds a good solution with few
  /// states.
  void order_jobs() {
    order_.resize(rows_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::vector<int> gpus(rows_.size());
    for (std::size_t j = 0; j < rows_.size(); ++j) gpus[j] = likely_gpus(j);
    std::ranges::stable_sort(order_, std::greater<>(), [&](std::size_t j) { return gpus[j]; });
  }

  /// For each price vector: the sum of gains of the jobs from each position of the order on.
  void sum_rests() {
    for (const Prices& prices : prices_) {
      std::vector<double>& rest = rests_.emplace_back(order_.size() + 1, 0.0);
      for (std::size_t k = order_.size(); k-- > 0;) {
        rest[k] = rest[k + 1] + max_gain(rows_[order_[k]], prices);
      }
    }
  }

  /// Bound of all solutions that have `worth` before position `k` of the order and `free` GPUs
  /// left. A value below `enough` may be imprecise.
  [[nodiscard]] double bound_of(std::size_t k, std::span<const int> free, double worth,
                                double enough) const {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < prices_.size(); ++p) {
      double bound = worth + rests_[p][k];
      for (std::size_t t = 0; t < free.size(); ++t) bound += prices_[p][t] * free[t];
      least = std::min(least, bound);
      if (least < enough) break;
    }
    return least;
  }

  /// All states that follow from `from` with the job at position `k`.
  States layer(const States& from, std::size_t k) {
    States to(from.types);
    StateTable table(to);
    const std::size_t job = order_[k];
    std::vector<int> free(from.types);
    for (std::size_t s = 0; s < from.size(); ++s) {
      const auto follow = [&](double worth, CandidateIndex c) {
        const double bound = bound_of(k + 1, free, worth, wanted());
        if (bound < wanted()) {
          left_out_ = std::max(left_out_, bound);
        } else {
          enter(to, table, free, {worth, bound, static_cast<std::uint32_t>(s), c});
        }
      };
      std::ranges::copy(from.free_of(s), free.begin());
      follow(from.worth[s], {});
      for (const auto c : indices<CandidateIndex>(rows_[job])) {
        const AssignmentCandidate& one = rows_[job][c];
        if (free[one.type] < one.gpus) continue;
        free[one.type] -= one.gpus;
        follow(from.worth[s] + one.worth, c);
        free[one.type] += one.gpus;
      }
    }
    states_ += static_cast<std::int64_t>(to.size());
    return to;
  }

  struct Way {
    double worth;
    double bound;
    std::uint32_t parent;
    CandidateIndex candidate;
  };

  static void enter(States& to, StateTable& table, const std::vector<int>& free, const Way& way) {
    const std::size_t at = table.find_or_enter(free);
    if (at == to.size()) {
      to.free.insert(to.free.end(), free.begin(), free.end());
      to.worth.push_back(way.worth);
      to.bound.push_back(way.bound);
      to.parents.push_back(way.parent);
      to.candidates.push_back(static_cast<std::int16_t>(way.candidate.value()));
    } else if (way.worth > to.worth[at]) {
      to.worth[at] = way.worth;
      to.bound[at] = way.bound;
      to.parents[at] = way.parent;
      to.candidates[at] = static_cast<std::int16_t>(way.candidate.value());
    }
  }

  /// Keeps the `width` states with the best bounds, in their order.
  void narrow(States& states, std::size_t width) {
    if (states.size() <= width) return;
    std::vector<std::uint32_t> kept(states.size());
    std::iota(kept.begin(), kept.end(), 0U);
    const auto cut = kept.begin() + static_cast<std::ptrdiff_t>(width);
    std::nth_element(kept.begin(), cut, kept.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (states.bound[a] != states.bound[b]) return states.bound[a] > states.bound[b];
      return a < b;
    });
    for (auto one = cut; one != kept.end(); ++one) {
      left_out_ = std::max(left_out_, states.bound[*one]);
    }
    kept.erase(cut, kept.end());
    std::ranges::sort(kept);
    States out(states.types);
    for (const std::uint32_t s : kept) {
      const auto free = states.free_of(s);
      out.free.insert(out.free.end(), free.begin(), free.end());
      out.worth.push_back(states.worth[s]);
      out.bound.push_back(states.bound[s]);
      out.parents.push_back(states.parents[s]);
      out.candidates.push_back(states.candidates[s]);
    }
    states = std::move(out);
  }

  /// Searches with at most `width` states per layer; keeps better solutions and better bounds.
  void pass(std::size_t width) {
    left_out_ = kNever;
    std::vector<std::vector<std::uint32_t>> parents;
    std::vector<std::vector<std::int16_t>> candidates;
    States states(gpus_.size());
    states.free = gpus_;
    states.worth.push_back(0);
    states.bound.push_back(bound_);
    for (std::size_t k = 0; k < order_.size() && states.size() > 0; ++k) {
      states = layer(states, k);
      narrow(states, width);
      parents.push_back(std::move(states.parents));
      candidates.push_back(std::move(states.candidates));
      if (states_ < options_.max_states || k + 1 == order_.size()) continue;
      // State limit reached: a solution without the remaining jobs is still valid.
      for (const double bound : states.bound) left_out_ = std::max(left_out_, bound);
      break;
    }
    const auto most = std::ranges::max_element(states.worth);
    if (most != states.worth.end() && *most > best_) {
      best_ = *most;
      keep(static_cast<std::size_t>(most - states.worth.begin()), parents, candidates);
    }
    const double out = whole_ ? std::floor(left_out_ + kRounding * std::abs(best_)) : left_out_;
    bound_ = std::min(bound_, std::max(out, best_));
  }

  void keep(std::size_t state, const std::vector<std::vector<std::uint32_t>>& parents,
            const std::vector<std::vector<std::int16_t>>& candidates) {
    chosen_.assign(rows_.size(), {});
    for (std::size_t k = candidates.size(); k-- > 0;) {
      const CandidateIndex c{candidates[k][state]};
      const std::size_t job = order_[k];
      if (c.valid()) chosen_[job] = rows_[job][c].column;
      state = parents[k][state];
    }
  }

  [[nodiscard]] std::string how_far() const {
    return fmt::format(
        "branch and bound over {} jobs and {} GPUs: after {} states the best answer is within "
        "{:.2g} of the bound, and {:.2g} was wanted",
        rows_.size(), all_gpus_, states_, relative_gap(-best_, -bound_), options_.gap);
  }

  const BranchOptions& options_;
  std::vector<std::vector<AssignmentCandidate>> rows_;
  std::int64_t all_gpus_ = 0;
  std::vector<int> gpus_;       ///< usable GPUs of each type
  bool whole_ = false;          ///< all worths are integers, so each solution's worth is too
  std::vector<Prices> prices_;  ///< the best ones first
  std::vector<std::size_t> order_;
  std::vector<std::vector<double>> rests_;
  std::vector<ColumnIndex> chosen_;
  double best_ = 0;           ///< the worth of chosen_
  double bound_ = 0;          ///< upper bound of the worth of any solution
  double left_out_ = kNever;  ///< upper bound of the states that this pass dropped
  std::int64_t states_ = 0;
};

}  // namespace

double relative_gap(double cost, double bound) {
  return std::abs(cost - bound) / (std::abs(cost) + std::numeric_limits<double>::epsilon());
}

Result<Branched> branch_and_bound(const AssignmentProblem& choice, const BranchOptions& options) {
  return Search(choice, options).run();
}

}  // namespace rubato::sim

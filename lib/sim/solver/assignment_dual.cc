// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/assignment_dual.h"

#include <algorithm>
#include <cmath>

namespace rubato::sim {
namespace {

constexpr int kMaxSteps = 20'000;
constexpr double kPrecise = 1e-9;

using Rows = std::vector<std::vector<AssignmentCandidate>>;

/// Contains the best prices, in an ellipsoid that shrinks with each cut.
class Ellipsoid {
 public:
  /// Starts around the box from 0 to `most` in each dimension.
  explicit Ellipsoid(const std::vector<double>& most) : n_(most.size()), shape_(n_ * n_, 0) {
    for (std::size_t i = 0; i < n_; ++i) {
      centre_.push_back(most[i] / 2);
      shape_[i * n_ + i] = static_cast<double>(n_) * most[i] * most[i] / 4;
    }
  }

  [[nodiscard]] const std::vector<double>& centre() const { return centre_; }

  /// The extent of the ellipsoid along `slope`.
  [[nodiscard]] double reach(const std::vector<double>& slope) const {
    double square = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) square += slope[i] * shape_[i * n_ + k] * slope[k];
    }
    return square > 0 ? std::sqrt(square) : 0;
  }

  /// Keeps the part at least `depth` below the centre along `slope`; false if it is empty.
  bool cut(const std::vector<double>& slope, double depth) {
    const double far = reach(slope);
    const double part = far > 0 ? depth / far : 1;
    if (part >= 1) return false;
    std::vector<double> step(n_, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) step[i] += shape_[i * n_ + k] * slope[k] / far;
    }
    const auto n = static_cast<double>(n_);
    const double move = (1 + n * part) / (n + 1);
    for (std::size_t i = 0; i < n_; ++i) centre_[i] -= move * step[i];
    if (n_ == 1) {  // an interval is halved
      shape_[0] *= (1 - part) * (1 - part) / 4;
      return true;
    }
    const double grow = n * n * (1 - part * part) / (n * n - 1);
    const double flat = 2 * move / (1 + part);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) {
        shape_[i * n_ + k] = grow * (shape_[i * n_ + k] - flat * step[i] * step[k]);
      }
    }
    return true;
  }

 private:
  std::size_t n_;
  std::vector<double> centre_;
  std::vector<double> shape_;
};

/// The gradient of dual_worth(): existing GPUs minus the GPUs that rows take at `prices`.
std::vector<double> slope_at(const Rows& rows, const std::vector<int>& gpus, const Prices& prices) {
  std::vector<double> slope(gpus.begin(), gpus.end());
  for (const auto& row : rows) {
    const AssignmentCandidate* taken = nullptr;
    double most = 0;
    for (const AssignmentCandidate& one : row) {
      const double gain = one.worth - prices[one.type] * one.gpus;
      if (gain <= most) continue;
      most = gain;
      taken = &one;
    }
    if (taken != nullptr) slope[taken->type] -= taken->gpus;
  }
  return slope;
}

}  // namespace

Rows candidates_of(const AssignmentProblem& choice) {
  Rows rows;
  for (const std::vector<double>& costs : choice.costs) {
    std::vector<AssignmentCandidate> all;
    for (const auto c : indices<ColumnIndex>(choice.columns)) {
      const AssignmentColumn& column = choice.columns[c];
      if (!(costs[c] < 0) || !std::isfinite(costs[c])) continue;
      if (column.gpus > choice.gpus[column.type]) continue;
      all.push_back({c, column.type, column.gpus, -costs[c]});
    }
    std::vector<AssignmentCandidate> row;
    for (const AssignmentCandidate& one : all) {
      const bool beaten = std::ranges::any_of(all, [&](const AssignmentCandidate& other) {
        if (other.type != one.type || other.gpus > one.gpus || other.worth < one.worth) {
          return false;
        }
        return other.gpus < one.gpus || other.worth > one.worth || other.column < one.column;
      });
      if (!beaten) row.push_back(one);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

double max_gain(const std::vector<AssignmentCandidate>& row, const Prices& prices) {
  double most = 0;
  for (const AssignmentCandidate& one : row) {
    most = std::max(most, one.worth - prices[one.type] * one.gpus);
  }
  return most;
}

double dual_worth(const Rows& rows, const std::vector<int>& gpus, const Prices& prices) {
  double sum = 0;
  for (const auto t : indices<TypeIndex>(gpus)) sum += prices[t] * gpus[t];
  for (const auto& row : rows) sum += max_gain(row, prices);
  return sum;
}

Prices best_prices(const Rows& rows, const std::vector<int>& gpus) {
  // At the maximum worth per GPU no row takes any, so higher prices cannot be better.
  Prices most(gpus.size(), 0);
  for (const auto& row : rows) {
    for (const AssignmentCandidate& one : row) {
      double& price = most[one.type];
      if (one.gpus > 0) price = std::max(price, one.worth / one.gpus);
    }
  }
  std::vector<TypeIndex> types;  // with a candidate of positive worth
  std::vector<double> box;
  for (const auto t : indices<TypeIndex>(most)) {
    if (!(most[t] > 0)) continue;
    types.push_back(t);
    box.push_back(most[t]);
  }
  Prices best(gpus.size(), 0);
  double least = dual_worth(rows, gpus, best);
  if (types.empty()) return best;
  Ellipsoid where(box);
  for (int step = 0; step < kMaxSteps; ++step) {
    const std::vector<double>& centre = where.centre();
    const auto low = std::ranges::min_element(centre);
    if (*low < 0) {
      std::vector<double> down(types.size(), 0);
      down.begin()[low - centre.begin()] = -1;
      if (!where.cut(down, -*low)) break;
      continue;
    }
    Prices prices(gpus.size(), 0);
    for (std::size_t i = 0; i < types.size(); ++i) prices[types[i]] = centre[i];
    const double worth = dual_worth(rows, gpus, prices);
    const std::vector<double> all = slope_at(rows, gpus, prices);
    std::vector<double> slope(types.size());
    for (std::size_t i = 0; i < types.size(); ++i) slope[i] = all[types[i]];
    if (worth < least) {
      least = worth;
      best = prices;
    }
    if (where.reach(slope) <= kPrecise * least || !where.cut(slope, worth - least)) break;
  }
  return best;
}

}  // namespace rubato::sim

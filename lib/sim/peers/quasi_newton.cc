// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/quasi_newton.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <eigen3/Eigen/Cholesky>
#include <limits>
#include <utility>

#include "lib/sim/peers/line_search.h"

namespace rubato::sim {
namespace {

using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

constexpr std::size_t kMemory = 10;  ///< pairs of steps and changes of the gradient
constexpr int kMaxTries = 20;        ///< steps of a line search
constexpr double kMaxStep = 1e10;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Where a variable is at the end of the Cauchy path.
enum class At { kFree, kLow, kHigh, kFixed };

class Search {
 public:
  Search(std::span<const BoundedVariable> variables, const SlopedObjective& objective,
         const QuasiNewtonRules& rules)
      : objective_(objective), rules_(rules), size_(static_cast<Index>(variables.size())) {
    low_.resize(size_);
    high_.resize(size_);
    x_.resize(size_);
    for (Index i = 0; i < size_; ++i) {
      const BoundedVariable& one = variables[static_cast<std::size_t>(i)];
      low_[i] = one.low;
      high_[i] = one.high;
      x_[i] = std::clamp(one.start, one.low, one.high);
    }
    slope_.resize(size_);
  }

  std::vector<double> run() {
    value_ = evaluate(x_, slope_);
    for (int i = 0; i < rules_.max_iterations && projected_slope() > rules_.slope;) {
      const Vector target = subspace_point(cauchy_point());
      const double before = value_;
      const Moved moved = move_to(target, i == 0);
      if (moved == Moved::kStuck) break;
      if (moved == Moved::kForgot) continue;
      ++i;
      if (projected_slope() <= rules_.slope) break;
      const double size = std::max({std::abs(before), std::abs(value_), 1.0});
      if (before - value_ <= rules_.reduction * size) break;
      remember();
    }
    return {x_.data(), x_.data() + size_};
  }

 private:
  enum class Moved { kYes, kForgot, kStuck };
  struct Pair {
    Vector step;
    Vector change;  ///< of the gradient
  };

  double evaluate(const Vector& at, Vector& slope) const {
    const auto count = static_cast<std::size_t>(size_);
    return objective_({at.data(), count}, {slope.data(), count});
  }

  [[nodiscard]] double projected_slope() const {
    double most = 0;
    for (Index i = 0; i < size_; ++i) {
      const double s = slope_[i];
      const double part = s < 0 ? std::max(x_[i] - high_[i], s) : std::min(x_[i] - low_[i], s);
      most = std::max(most, std::abs(part));
    }
    return most;
  }

  /// The dense approximation of the second derivatives.
  [[nodiscard]] Eigen::MatrixXd curvature() const {
    Eigen::MatrixXd b = scale_ * Eigen::MatrixXd::Identity(size_, size_);
    for (const Pair& pair : pairs_) {
      const Vector bs = b * pair.step;
      b += pair.change * pair.change.transpose() / pair.change.dot(pair.step) -
           bs * bs.transpose() / pair.step.dot(bs);
    }
    return b;
  }

  /// The first minimum of the quadratic model along the projected gradient.
  Vector cauchy_point() {
    at_.assign(static_cast<std::size_t>(size_), At::kFree);
    curvature_ = curvature();
    Vector along = -slope_;
    std::vector<std::pair<double, Index>> breaks;
    bool bounded = true;
    for (Index i = 0; i < size_; ++i) {
      At& at = at_[static_cast<std::size_t>(i)];
      if (high_[i] <= low_[i]) {
        at = At::kFixed;
      } else if (x_[i] <= low_[i] && along[i] <= 0) {
        at = At::kLow;
      } else if (x_[i] >= high_[i] && along[i] >= 0) {
        at = At::kHigh;
      }
      if (at != At::kFree) along[i] = 0;
      if (along[i] == 0) continue;
      const double end = along[i] < 0 ? low_[i] : high_[i];
      if (std::isfinite(end)) {
        breaks.emplace_back((end - x_[i]) / along[i], i);
      } else {
        bounded = false;
      }
    }
    std::ranges::sort(breaks);
    Vector point = x_;
    const double first_bend = scale_ * along.squaredNorm();
    double time = 0;
    for (std::size_t k = 0; k <= breaks.size(); ++k) {
      if (along.squaredNorm() == 0) break;
      const double slope = along.dot(slope_ + curvature_ * (point - x_));
      const double bend = std::max(kEps * first_bend, along.dot(curvature_ * along));
      const double best = std::max(0.0, -slope / bend);
      const bool last = k == breaks.size();
      if (last && bounded) break;
      const double next = last ? best : breaks[k].first - time;
      if (last || best < next) {
        point += best * along;
        break;
      }
      point += next * along;
      time = breaks[k].first;
      const Index i = breaks[k].second;
      const bool down = along[i] < 0;
      point[i] = down ? low_[i] : high_[i];
      at_[static_cast<std::size_t>(i)] = down ? At::kLow : At::kHigh;
      along[i] = 0;
    }
    return point;
  }

  /// The minimum of the model over the free variables, inside the bounds.
  Vector subspace_point(const Vector& cauchy) const {
    std::vector<Index> free;
    for (Index i = 0; i < size_; ++i) {
      if (at_[static_cast<std::size_t>(i)] == At::kFree) free.push_back(i);
    }
    if (free.empty() || pairs_.empty()) return cauchy;
    const Vector rest = -(slope_ + curvature_ * (cauchy - x_));
    const auto count = static_cast<Index>(free.size());
    Eigen::MatrixXd b(count, count);
    Vector r(count);
    for (Index i = 0; i < count; ++i) {
      r[i] = rest[free[static_cast<std::size_t>(i)]];
      for (Index j = 0; j < count; ++j) {
        b(i, j) = curvature_(free[static_cast<std::size_t>(i)], free[static_cast<std::size_t>(j)]);
      }
    }
    const Vector step = b.ldlt().solve(r);
    Vector point = cauchy;
    bool at_bound = false;
    for (Index i = 0; i < count; ++i) {
      const Index k = free[static_cast<std::size_t>(i)];
      point[k] = std::clamp(cauchy[k] + step[i], low_[k], high_[k]);
      at_bound = at_bound || point[k] == low_[k] || point[k] == high_[k];
    }
    if (!at_bound || (point - x_).dot(slope_) <= 0) return point;
    return cut_back(cauchy, free, step);
  }

  /// The longest part of the step inside the bounds.
  Vector cut_back(const Vector& cauchy, const std::vector<Index>& free, const Vector& step) const {
    double share = 1;
    Index first = -1;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double s = step[static_cast<Index>(i)];
      const Index k = free[i];
      const double room = (s < 0 ? low_[k] : high_[k]) - cauchy[k];
      if (s == 0 || !std::isfinite(room)) continue;
      const double part = std::max(0.0, room / s);
      if (part >= share) continue;
      share = part;
      first = static_cast<Index>(i);
    }
    Vector point = cauchy;
    for (std::size_t i = 0; i < free.size(); ++i) {
      const double s = step[static_cast<Index>(i)];
      const bool bound = static_cast<Index>(i) == first;
      point[free[i]] =
          bound ? (s < 0 ? low_[free[i]] : high_[free[i]]) : cauchy[free[i]] + share * s;
    }
    return point;
  }

  [[nodiscard]] double longest_step(const Vector& along, bool first) const {
    if (first) return 1;
    double most = kMaxStep;
    for (Index i = 0; i < size_; ++i) {
      const double room = (along[i] < 0 ? low_[i] : high_[i]) - x_[i];
      if (along[i] == 0 || !std::isfinite(room)) continue;
      most = std::min(most, std::max(0.0, room / along[i]));
    }
    return most;
  }

  Moved move_to(const Vector& target, bool first) {
    const Vector along = target - x_;
    const double most = longest_step(along, first);
    const double begin = first ? std::min(1 / along.norm(), most) : 1;
    const double slope = along.dot(slope_);
    if (slope >= 0) return forget();
    LineSearch search(value_, slope, std::min(begin, most), most);
    Vector point(size_);
    Vector gradient(size_);
    for (int tries = 0; tries < kMaxTries; ++tries) {
      point = search.step() == 1 ? target : Vector(x_ + search.step() * along);
      const double value = evaluate(point, gradient);
      const double now = along.dot(gradient);
      const double step = search.step();
      if (!search.done(value, now)) continue;
      last_ = {point - x_, gradient - slope_};
      last_.step = step * along;
      curved_ = (now - slope) * step;
      flat_ = -slope * step;
      x_ = point;
      slope_ = gradient;
      value_ = value;
      return Moved::kYes;
    }
    return forget();
  }

  /// After a failed search: begins anew from the steepest descent.
  Moved forget() {
    if (pairs_.empty()) return Moved::kStuck;
    pairs_.clear();
    scale_ = 1;
    return Moved::kForgot;
  }

  void remember() {
    if (curved_ <= kEps * flat_) return;
    scale_ = last_.change.squaredNorm() / curved_;
    pairs_.push_back(last_);
    if (pairs_.size() > kMemory) pairs_.pop_front();
  }

  const SlopedObjective& objective_;
  const QuasiNewtonRules& rules_;
  Index size_;
  Vector low_;
  Vector high_;
  Vector x_;
  Vector slope_;
  double value_ = 0;
  double scale_ = 1;  ///< of the initial curvature
  std::deque<Pair> pairs_;
  Pair last_;
  double curved_ = 0;  ///< step times change of the gradient
  double flat_ = 0;
  std::vector<At> at_;
  Eigen::MatrixXd curvature_;
};

}  // namespace

std::vector<double> quasi_newton(std::span<const BoundedVariable> variables,
                                 const SlopedObjective& objective, const QuasiNewtonRules& rules) {
  return Search(variables, objective, rules).run();
}

}  // namespace rubato::sim

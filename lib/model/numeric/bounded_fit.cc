// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/numeric/bounded_fit.h"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace rubato {
namespace {

// Replaces values that are not finite: worse than any value in a fit.
constexpr double kVeryBad = 1e30;
// Relative to the distance between the bounds, or to the value if that is smaller.
constexpr double kDifference = 1e-6;
constexpr double kTolerance = 1e-10;

class Search {
 public:
  Search(std::span<const FitParameter> parameters, const FitObjective& objective, int budget)
      : parameters_(parameters), objective_(objective), left_(budget) {
    for (const FitParameter& p : parameters) {
      const double start = std::clamp(p.start, p.low, p.high);
      low_.push_back(inner(p, p.low));
      high_.push_back(inner(p, p.high));
      best_.push_back(inner(p, start));
    }
    value_ = at(best_.data());
  }

  void run(nlopt_algorithm algorithm, double share) {
    if (best_.empty() || left_ <= 0) return;
    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(
        nlopt_create(algorithm, static_cast<unsigned>(best_.size())), &nlopt_destroy);
    if (!search) return;
    nlopt_set_lower_bounds(search.get(), low_.data());
    nlopt_set_upper_bounds(search.get(), high_.data());
    nlopt_set_min_objective(search.get(), &Search::call, this);
    nlopt_set_xtol_rel(search.get(), kTolerance);
    nlopt_set_ftol_rel(search.get(), kTolerance);
    const int calls = std::max(1, static_cast<int>(share * left_));
    const int per_step = algorithm == NLOPT_LD_SLSQP ? 2 * static_cast<int>(best_.size()) + 1 : 1;
    nlopt_set_maxeval(search.get(), std::max(1, calls / per_step));
    std::vector<double> point = best_;
    double value = 0;
    // Ignores how the search ended: the best point is already stored.
    (void)nlopt_optimize(search.get(), point.data(), &value);
  }

  [[nodiscard]] FitResult result() const { return {outer(best_.data()), value_}; }

 private:
  static double inner(const FitParameter& p, double value) {
    return p.logarithmic ? std::log(value) : value;
  }

  [[nodiscard]] std::vector<double> outer(const double* point) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const FitParameter& p = parameters_[i];
      const double value = p.logarithmic ? std::exp(point[i]) : point[i];
      values.push_back(std::clamp(value, p.low, p.high));
    }
    return values;
  }

  double at(const double* point) {
    --left_;
    const double value = objective_(outer(point));
    return std::isfinite(value) ? std::min(value, kVeryBad) : kVeryBad;
  }

  void differences(const double* point, double* gradient) {
    std::vector<double> moved(point, point + best_.size());
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const double step =
          kDifference * std::min(high_[i] - low_[i], std::max(1.0, std::abs(point[i])));
      const double above = std::min(point[i] + step, high_[i]);
      const double below = std::max(point[i] - step, low_[i]);
      moved[i] = above;
      const double up = at(moved.data());
      moved[i] = below;
      const double down = at(moved.data());
      moved[i] = point[i];
      gradient[i] = above > below ? (up - down) / (above - below) : 0;
    }
  }

  static double call(unsigned, const double* point, double* gradient, void* self) {
    Search& search = *static_cast<Search*>(self);
    const double value = search.at(point);
    if (value < search.value_) {
      search.value_ = value;
      search.best_.assign(point, point + search.best_.size());
    }
    if (gradient != nullptr) search.differences(point, gradient);
    return value;
  }

  std::span<const FitParameter> parameters_;
  const FitObjective& objective_;
  int left_;
  std::vector<double> low_;
  std::vector<double> high_;
  std::vector<double> best_;
  double value_ = 0;
};

}  // namespace

FitResult minimise(std::span<const FitParameter> parameters, const FitObjective& objective,
                   int max_evaluations) {
  Search search(parameters, objective, max_evaluations);
  search.run(NLOPT_LD_SLSQP, 0.3);
  search.run(NLOPT_LN_SBPLX, 0.6);
  search.run(NLOPT_LD_SLSQP, 1.0);
  return search.result();
}

}  // namespace rubato

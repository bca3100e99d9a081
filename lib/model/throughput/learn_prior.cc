// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/learn_prior.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <eigen3/Eigen/Core>
#include <map>
#include <set>
#include <tuple>

#include "lib/model/numeric/bounded_fit.h"

namespace rubato {
namespace {

// Of ln of a standard deviation: a report's may be anything; for the others a few cells must not
// outvote what holds of most sites.
constexpr double kNoiseWidth = 1.0;
constexpr double kBeliefWidth = 0.5;
constexpr double kLowest = 0.005;
constexpr double kHighest = 3.0;
constexpr int kMostEvaluations = 1200;

/// The cells that fit somewhere, of whole profiles, most cells first.
std::vector<RateCell> chosen(const std::vector<RateCell>& cells) {
  std::map<ProfileName, std::vector<RateCell>> profiles;
  for (const RateCell& cell : cells)
    if (cell.rate > 0) profiles[cell.profile].push_back(cell);
  std::vector<const std::vector<RateCell>*> order;
  order.reserve(profiles.size());
  for (const auto& [unused, own] : profiles) order.push_back(&own);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->size() > b->size(); });
  std::vector<RateCell> result;
  for (const auto* own : order) {
    for (const RateCell& cell : *own)
      if (result.size() < kMostCellsForPrior) result.push_back(cell);
  }
  return result;
}

class Likelihood {
 public:
  Likelihood(const TypeSpeeds& speeds, const std::vector<RateCell>& cells,
             const ThroughputPrior& start, bool noise_known)
      : start_(start), noise_known_(noise_known) {
    std::vector<std::pair<ProfileName, RatePlace>> places;
    std::vector<double> weights;
    for (const RateCell& cell : cells) {
      places.emplace_back(cell.profile, cell.place());
      weights.push_back(cell.weight > 0 ? cell.weight : static_cast<double>(cell.samples));
    }
    const RatePoints points(places, weights);
    const auto n = static_cast<Eigen::Index>(cells.size());
    residuals_.resize(n);
    reports_.resize(n);
    std::vector<RatePoint> at;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      at.push_back(points.at(cells[i].profile, cells[i].place()));
      const auto row = static_cast<Eigen::Index>(i);
      residuals_(row) = std::log(cells[i].rate) - std::log(speeds.speed(cells[i].gpu_type)) -
                        prior_log_rate(start, at.back());
      reports_(row) = std::max(weights[i], 1e-3);
    }
    build(at, n);
  }

  [[nodiscard]] const std::vector<std::size_t>& active() const { return active_; }

  /// Minus ln of the likelihood and of the belief, of active terms by ln.
  [[nodiscard]] double minus_log(std::span<const double> values) const {
    ThroughputPrior prior = with(values);
    Eigen::MatrixXd k = constant_;
    double belief = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const PriorTerm& term = prior_terms()[active_[i]];
      const bool of_reports = active_[i] + 1 >= kKernelTerms;
      const double width = of_reports ? kNoiseWidth : kBeliefWidth;
      const double away = std::log(values[i] / (start_.*term.value)) / width;
      belief += away * away / 2;
      if (active_[i] + 1 < kKernelTerms)
        k.triangularView<Eigen::Lower>() += values[i] * values[i] * bases_[i];
    }
    for (Eigen::Index i = 0; i < residuals_.size(); ++i) k(i, i) += noise(prior, reports_(i));
    const Eigen::LLT<Eigen::MatrixXd> factor(k);
    if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    const double fit = factor.matrixL().solve(residuals_).squaredNorm() / 2;
    const double volume = Eigen::MatrixXd(factor.matrixL()).diagonal().array().log().sum();
    return fit + volume + belief;
  }

  [[nodiscard]] ThroughputPrior with(std::span<const double> values) const {
    ThroughputPrior prior = start_;
    for (std::size_t i = 0; i < active_.size(); ++i)
      prior.*prior_terms()[active_[i]].value = values[i];
    return prior;
  }

 private:
  /// A matrix for each term that the cells can tell something about; the others are added up.
  void build(const std::vector<RatePoint>& at, Eigen::Index n) {
    const std::size_t terms = prior_terms().size();
    std::vector<Eigen::MatrixXd> all(kKernelTerms, Eigen::MatrixXd::Zero(n, n));
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) {
        const KernelTerms f =
            kernel_factors(at[static_cast<std::size_t>(i)], at[static_cast<std::size_t>(j)]);
        for (std::size_t term = 0; term < kKernelTerms; ++term) all[term](i, j) = f[term];
      }
    }
    const KernelTerms weights = kernel_weights(start_);
    constant_ = Eigen::MatrixXd::Zero(n, n);
    for (std::size_t term = 0; term < terms; ++term) {
      const bool is_noise = term + 1 >= kKernelTerms;
      const bool told = is_noise ? !noise_known_ : all[term].cwiseAbs().maxCoeff() > 0;
      if (told && start_.*prior_terms()[term].value > 0) {
        active_.push_back(term);
        bases_.push_back(is_noise ? Eigen::MatrixXd() : std::move(all[term]));
      } else if (!is_noise) {
        constant_ += weights[term] * all[term];
      }
    }
    constant_ += weights.back() * all.back();
  }

  ThroughputPrior start_;
  bool noise_known_;
  Eigen::VectorXd residuals_;
  Eigen::VectorXd reports_;
  Eigen::MatrixXd constant_;
  std::vector<std::size_t> active_;  ///< of prior_terms()
  std::vector<Eigen::MatrixXd> bases_;
};

/// The standard deviation that is likeliest after `count` independent distances of `measured`,
/// where ln of it was believed to be that of `believed`, give or take kNoiseWidth.
double likeliest(double believed, double measured, double count) {
  if (!(believed > 0) || !(count > 0)) return believed;
  double low = std::log(kLowest);
  double high = std::log(kHighest);
  for (int i = 0; i < 60; ++i) {  // the slope changes its sign once
    const double middle = (low + high) / 2;
    const double share = measured / std::exp(middle);
    const double slope =
        count * (1 - share * share) + (middle - std::log(believed)) / (kNoiseWidth * kNoiseWidth);
    (slope > 0 ? high : low) = middle;
  }
  return std::exp((low + high) / 2);
}

}  // namespace

ThroughputPrior with_scatter(ThroughputPrior prior, const ReportScatter& scatter) {
  prior.report = likeliest(prior.report, scatter.within, scatter.within_count);
  prior.report_floor = likeliest(prior.report_floor, scatter.between, scatter.between_count);
  return prior;
}

double early_spread(const ReportScatter& scatter) {
  return likeliest(RateHistory::kEarlySpread, scatter.early, scatter.early_count);
}

ThroughputPrior learn_prior(const TypeSpeeds& speeds, const std::vector<RateCell>& cells,
                            const ThroughputPrior& start, bool noise_known) {
  const std::vector<RateCell> used = chosen(cells);
  std::set<ProfileName> profiles;
  for (const RateCell& cell : used) profiles.insert(cell.profile);
  if (used.size() < kLeastCellsForPrior || profiles.size() < kLeastProfilesForPrior) return start;
  const Likelihood likelihood(speeds, used, start, noise_known);
  std::vector<FitParameter> parameters;
  for (const std::size_t term : likelihood.active()) {
    const double value = start.*prior_terms()[term].value;
    parameters.push_back({.start = std::clamp(value, kLowest, kHighest),
                          .low = kLowest,
                          .high = kHighest,
                          .logarithmic = true});
  }
  const FitResult found = minimise(
      parameters, [&](std::span<const double> values) { return likelihood.minus_log(values); },
      kMostEvaluations);
  return std::isfinite(found.objective) ? likelihood.with(found.values) : start;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/fit_hyperparameters.h"

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

// Prior widths of ln of a standard deviation. The noise of a report may have any size. For the
// others, a few observations must not override experience from most sites.
constexpr double kNoiseWidth = 1.0;
constexpr double kBeliefWidth = 0.5;
constexpr double kMinStddev = 0.005;
constexpr double kMaxStddev = 3.0;
constexpr int kMaxEvaluations = 1200;

/// Before in an order that does not come from names.
bool measured_before(const ThroughputObservation& a, const ThroughputObservation& b) {
  return std::tie(a.throughput, a.gpus, a.batch, a.nodes, a.samples) <
         std::tie(b.throughput, b.gpus, b.batch, b.nodes, b.samples);
}

/// The observations with a throughput, in whole profiles, those with most observations first. Names
/// do not decide their order: the search for a maximum makes much of the last digits of a sum.
std::vector<ThroughputObservation> chosen(const std::vector<ThroughputObservation>& observations) {
  std::map<ProfileName, std::vector<ThroughputObservation>> profiles;
  for (const ThroughputObservation& observation : observations)
    if (observation.throughput > 0) profiles[observation.profile].push_back(observation);
  std::vector<std::vector<ThroughputObservation>*> order;
  order.reserve(profiles.size());
  for (auto& [unused, own] : profiles) {
    std::stable_sort(own.begin(), own.end(), measured_before);
    order.push_back(&own);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    if (a->size() != b->size()) return a->size() > b->size();
    return std::lexicographical_compare(a->begin(), a->end(), b->begin(), b->end(),
                                        measured_before);
  });
  std::vector<ThroughputObservation> result;
  for (const auto* own : order) {
    for (const ThroughputObservation& observation : *own)
      if (result.size() < kMaxObservationsForPrior) result.push_back(observation);
  }
  return result;
}

class Likelihood {
 public:
  Likelihood(const TypeSpeeds& speeds, const std::vector<ThroughputObservation>& observations,
             const ThroughputPrior& start, bool noise_known)
      : start_(start), noise_known_(noise_known) {
    std::vector<std::pair<ProfileName, JobConfiguration>> configurations;
    std::vector<double> weights;
    for (const ThroughputObservation& observation : observations) {
      configurations.emplace_back(observation.profile, observation.configuration());
      weights.push_back(observation.weight > 0 ? observation.weight
                                               : static_cast<double>(observation.samples));
    }
    const KernelPoints points(configurations, weights);
    const auto n = static_cast<Eigen::Index>(observations.size());
    residuals_.resize(n);
    reports_.resize(n);
    std::vector<KernelPoint> at;
    for (std::size_t i = 0; i < observations.size(); ++i) {
      at.push_back(points.at(observations[i].profile, observations[i].configuration()));
      const auto row = static_cast<Eigen::Index>(i);
      residuals_(row) = std::log(observations[i].throughput) -
                        std::log(speeds.speed(observations[i].gpu_type)) -
                        prior_log_throughput(start, at.back());
      reports_(row) = std::max(weights[i], 1e-3);
    }
    build(at, n);
  }

  [[nodiscard]] const std::vector<std::size_t>& active() const { return active_; }

  /// Minus ln of likelihood and prior, by ln of the active terms.
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
  /// Builds a matrix per term that the observations inform; sums up the others.
  void build(const std::vector<KernelPoint>& at, Eigen::Index n) {
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
  std::vector<std::size_t> active_;  ///< indices into prior_terms()
  std::vector<Eigen::MatrixXd> bases_;
};

/// The most likely standard deviation after `count` independent distances of `measured`. The prior
/// of its ln is that of `believed`, with standard deviation kNoiseWidth.
double likeliest(double believed, double measured, double count) {
  if (!(believed > 0) || !(count > 0)) return believed;
  double low = std::log(kMinStddev);
  double high = std::log(kMaxStddev);
  for (int i = 0; i < 60; ++i) {  // bisection: the slope changes its sign once
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

double early_stddev(const ReportScatter& scatter) {
  return likeliest(ThroughputHistory::kEarlyStddev, scatter.early, scatter.early_count);
}

ThroughputPrior fit_hyperparameters(const TypeSpeeds& speeds,
                                    const std::vector<ThroughputObservation>& observations,
                                    const ThroughputPrior& start, bool noise_known) {
  const std::vector<ThroughputObservation> used = chosen(observations);
  std::set<ProfileName> profiles;
  for (const ThroughputObservation& observation : used) profiles.insert(observation.profile);
  if (used.size() < kMinObservationsForPrior || profiles.size() < kMinProfilesForPrior)
    return start;
  const Likelihood likelihood(speeds, used, start, noise_known);
  std::vector<FitParameter> parameters;
  for (const std::size_t term : likelihood.active()) {
    const double value = start.*prior_terms()[term].value;
    parameters.push_back({.start = std::clamp(value, kMinStddev, kMaxStddev),
                          .low = kMinStddev,
                          .high = kMaxStddev,
                          .logarithmic = true});
  }
  const FitResult found = minimise(
      parameters, [&](std::span<const double> values) { return likelihood.minus_log(values); },
      kMaxEvaluations);
  return std::isfinite(found.objective) ? likelihood.with(found.values) : start;
}

}  // namespace rubato

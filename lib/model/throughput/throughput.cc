// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/throughput.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <eigen3/Eigen/Core>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "lib/model/throughput/fit_inputs.h"
#include "lib/model/throughput/forecast_cache.h"
#include "lib/model/throughput/measured_ranges.h"
#include "lib/model/throughput/merge_observations.h"

namespace rubato {
namespace {

using fit_inputs::kFarLogThroughput;
using fit_inputs::measured_throughput;
using fit_inputs::reports_of;

constexpr double kMaxStddev = 50;
// Wrong reports can give any exponent. Outside the measured range, exponents of GPUs, batch per GPU
// and nodes are bounded. The effect of the last measured configuration is added. The bounds are
// wide enough to leave forecasts from real measurements unchanged.
struct Exponents {
  double least;
  double most;

  /// The range of change of ln throughput if the other number changes by `ln`.
  [[nodiscard]] std::pair<double, double> of(double ln) const {
    return std::minmax({least * ln, most * ln});
  }
};
constexpr Exponents kOfSize{-1, 1.1};
constexpr Exponents kOfBatch{-0.1, 1};
constexpr Exponents kOfNodes{-1, 0.1};
constexpr double kMaxSpecial = 1.5;

KernelPoints points_of(const std::vector<ThroughputObservation>& observations,
                       const std::vector<CurvePoint>& curves) {
  std::vector<std::pair<ProfileName, JobConfiguration>> configurations;
  std::vector<double> weights;
  for (const ThroughputObservation& observation : observations) {
    configurations.emplace_back(observation.profile, observation.configuration());
    weights.push_back(reports_of(observation));
  }
  for (const CurvePoint& point : curves) {
    configurations.emplace_back(point.profile, point.configuration);
    weights.push_back(0);  // measurements define the usual configuration
  }
  return KernelPoints(configurations, weights);
}

}  // namespace

double Forecast::throughput() const {
  if (!feasible) return 0;
  return exact > 0 ? exact : std::exp(log_throughput);
}

struct ThroughputModel::Fit {
  std::vector<KernelPoint> points;          ///< of the rows: observations that fit, then points of
                                            ///< curves
  std::vector<std::size_t> observation_of;  ///< index of the observation of each of the first rows
  Eigen::VectorXd residuals;
  Eigen::LLT<Eigen::MatrixXd> factor;  ///< of kernel + noise
  Eigen::VectorXd weights;             ///< the inverse times the residuals
  MeasuredRanges spans;                ///< of `points`

  [[nodiscard]] Eigen::VectorXd against(const KernelTerms& terms, const KernelPoint& at) const {
    Eigen::VectorXd k(residuals.size());
    for (Eigen::Index i = 0; i < k.size(); ++i)
      k(i) = kernel(terms, at, points[static_cast<std::size_t>(i)]);
    return k;
  }
};

struct ThroughputModel::Cache : ForecastCache {
  using Pair = std::tuple<ProfileName, JobConfiguration, JobConfiguration>;
  std::shared_mutex ratio_mutex{};
  std::map<Pair, Forecast> ratios{};
};

ThroughputModel::ThroughputModel(TypeSpeeds speeds, ThroughputPrior prior)
    : ThroughputModel(std::move(speeds), {}, prior) {}

ThroughputModel::ThroughputModel(TypeSpeeds speeds, std::vector<ThroughputObservation> observations,
                                 ThroughputPrior prior, std::vector<CurvePoint> curves)
    : speeds_(std::move(speeds)),
      prior_(prior),
      weights_(kernel_weights(prior)),
      observations_(used_of(std::move(observations))),
      curves_(fit_inputs::sorted(std::move(curves), kMaxObservations)),
      cache_(std::make_unique<Cache>()) {
  points_ = points_of(observations_, curves_);
  fit();
}

ThroughputModel::~ThroughputModel() = default;

std::vector<ThroughputObservation> ThroughputModel::used_of(
    std::vector<ThroughputObservation> observations) {
  MergedObservations used =
      merge_to(fit_inputs::joined(std::move(observations)), kMaxObservations, prior_);
  merged_ = used.merged;
  dropped_ = used.dropped;
  return std::move(used.observations);
}

double ThroughputModel::prior_mean(const std::string& gpu_type, const KernelPoint& at) const {
  return std::log(speeds_.speed(gpu_type)) + prior_log_throughput(prior_, at);
}

void ThroughputModel::fit() {
  auto fit = std::make_unique<Fit>();
  std::vector<double> noises;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < observations_.size(); ++i) {
    const ThroughputObservation& observation = observations_[i];
    if (!measured_throughput(observation)) continue;
    const KernelPoint at = points_.at(observation.profile, observation.configuration());
    fit->points.push_back(at);
    fit->observation_of.push_back(i);
    noises.push_back(noise(prior_, reports_of(observation)));
    residuals.push_back(std::log(observation.throughput) - prior_mean(observation.gpu_type, at));
  }
  for (const CurvePoint& point : curves_) {
    const KernelPoint at = points_.at(point.profile, point.configuration);
    fit->points.push_back(at);
    const double stddev = std::max(point.stddev, kMinCurveStddev);
    noises.push_back(stddev * stddev);
    residuals.push_back(point.log_throughput - prior_mean(point.configuration.gpu_type, at));
  }
  const auto n = static_cast<Eigen::Index>(fit->points.size());
  if (n == 0) return;
  Eigen::MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (Eigen::Index j = 0; j <= i; ++j)
      k(i, j) = kernel(weights_, fit->points[at], fit->points[static_cast<std::size_t>(j)]);
    k(i, i) += noises[at];
  }
  fit->residuals = Eigen::Map<const Eigen::VectorXd>(residuals.data(), n);
  fit->factor.compute(k);  // reads the lower half; noise keeps it positive definite
  fit->weights = fit->factor.solve(fit->residuals);
  for (const KernelPoint& at : fit->points) fit->spans.add(at);
  fit_ = std::move(fit);
}

double ThroughputModel::beyond(const std::string& gpu_type, const KernelPoint& at) const {
  if (fit_ == nullptr) return 0;
  const KernelPoint near = fit_->spans.nearest(at);
  double least = 0;
  double most = 0;
  const auto add = [&](const Exponents& exponents, double ln) {
    const auto [fall, growth] = exponents.of(ln);
    least += fall;
    most += growth;
  };
  add(kOfSize, at.size - near.size);
  add(kOfBatch, at.batch - near.batch);
  add(kOfNodes, at.nodes - near.nodes);
  if (least == 0 && most == 0) return 0;
  const auto mean = [&](const KernelPoint& point) {
    return prior_mean(gpu_type, point) + fit_->against(weights_, point).dot(fit_->weights);
  };
  const double change = mean(at) - mean(near);
  return change - std::clamp(change, least - kMaxSpecial, most + kMaxSpecial);
}

JobConfiguration ThroughputModel::usual(const ProfileName& profile,
                                        JobConfiguration configuration) const {
  if (configuration.plan.empty()) configuration.plan = points_.usual_plan(profile);
  return configuration;
}

Forecast ThroughputModel::predict(const ProfileName& profile, const std::string& gpu_type,
                                  int gpus) const {
  return kept(profile, gpu_type, std::max(gpus, 1), nullptr);
}

Forecast ThroughputModel::predict(const ProfileName& profile,
                                  const JobConfiguration& configuration) const {
  return kept(profile, configuration.gpu_type, std::max(configuration.gpus, 1), &configuration);
}

Forecast ThroughputModel::kept(const ProfileName& profile, const std::string& gpu_type, int gpus,
                               const JobConfiguration* configuration) const {
  const ForecastCache::View view{profile, gpu_type, gpus, configuration};
  if (const std::optional<Forecast> found = cache_->find(view)) return *found;
  JobConfiguration at = configuration != nullptr
                            ? *configuration
                            : usual(profile, {.gpu_type = gpu_type, .gpus = gpus});
  at.gpus = gpus;
  const Forecast forecast = compute(profile, at);
  cache_->keep(view, forecast);
  return forecast;
}

// Adds the observations at a configuration to its forecast.
void ThroughputModel::see(Forecast& forecast, const ProfileName& profile,
                          const JobConfiguration& configuration) const {
  const ThroughputObservation first{.profile = profile, .gpu_type = {}, .gpus = 0};
  const auto begin = std::lower_bound(observations_.begin(), observations_.end(), first, before);
  const auto batch_of = [&](std::int64_t batch) {
    return batch > 0 ? batch : points_.usual_batch(profile, configuration.gpus);
  };
  const std::int64_t batch = batch_of(configuration.batch);
  bool refused = false;
  bool ran = false;
  for (auto observation = begin;
       observation != observations_.end() && observation->profile == profile; ++observation) {
    if (measured_throughput(*observation)) forecast.known_profile = true;
    forecast.profile_jobs = std::max(forecast.profile_jobs, observation->profile_jobs);
    if (observation->gpu_type != configuration.gpu_type || observation->gpus != configuration.gpus)
      continue;
    if (measured_throughput(*observation)) {
      forecast.samples += observation->samples;
      forecast.jobs = std::max(forecast.jobs, observation->jobs);
      if (observation->plan == configuration.plan && batch_of(observation->batch) >= batch)
        ran = true;
      continue;
    }
    // If one batch does not fit, a larger one does not either.
    const bool nodes = observation->nodes == 0 || configuration.nodes == 0 ||
                       observation->nodes == configuration.nodes;
    if (nodes && observation->plan == configuration.plan && batch_of(observation->batch) <= batch)
      refused = true;
  }
  forecast.feasible = ran || !refused;
}

Forecast ThroughputModel::compute(const ProfileName& profile,
                                  const JobConfiguration& configuration) const {
  const KernelPoint at = points_.at(profile, configuration);
  Forecast forecast{.log_throughput = prior_mean(configuration.gpu_type, at)};
  double variance = kernel(weights_, at, at);
  if (fit_ != nullptr) {
    const Eigen::VectorXd k = fit_->against(weights_, at);
    forecast.log_throughput += k.dot(fit_->weights) - beyond(configuration.gpu_type, at);
    variance -= fit_->factor.matrixL().solve(k).squaredNorm();
  }
  see(forecast, profile, configuration);
  // With a curve, absolute levels are meaningful too.
  forecast.known_profile = forecast.known_profile || curve_of(profile);
  forecast.log_throughput =
      std::clamp(forecast.log_throughput, -kFarLogThroughput, kFarLogThroughput);
  forecast.stddev = std::min(std::sqrt(std::max(variance, 0.0)), kMaxStddev);
  return forecast;
}

bool ThroughputModel::curve_of(const ProfileName& profile) const {
  const auto at = std::lower_bound(
      curves_.begin(), curves_.end(), profile,
      [](const CurvePoint& point, const ProfileName& name) { return point.profile < name; });
  return at != curves_.end() && at->profile == profile;
}

Forecast ThroughputModel::ratio(const ProfileName& profile, const Configuration& a,
                                const Configuration& b) const {
  Cache::Pair key{profile, a, b};
  {
    const std::shared_lock lock(cache_->ratio_mutex);
    if (const auto found = cache_->ratios.find(key); found != cache_->ratios.end())
      return found->second;
  }
  const Forecast forecast = compute_ratio(profile, a, b);
  const std::unique_lock lock(cache_->ratio_mutex);
  if (cache_->ratios.size() < ForecastCache::kMaxKept)
    cache_->ratios.emplace(std::move(key), forecast);
  return forecast;
}

Forecast ThroughputModel::compute_ratio(const ProfileName& profile, const Configuration& a,
                                        const Configuration& b) const {
  const JobConfiguration configuration_a = usual(profile, a);
  const JobConfiguration configuration_b = usual(profile, b);
  const KernelPoint at_a = points_.at(profile, configuration_a);
  const KernelPoint at_b = points_.at(profile, configuration_b, at_a, configuration_a);
  Forecast forecast{.log_throughput = prior_mean(a.gpu_type, at_a) - prior_mean(b.gpu_type, at_b)};
  double variance = kernel(weights_, at_a, at_a) + kernel(weights_, at_b, at_b) -
                    2 * kernel(weights_, at_a, at_b);
  if (fit_ != nullptr) {
    const Eigen::VectorXd k = fit_->against(weights_, at_a) - fit_->against(weights_, at_b);
    forecast.log_throughput +=
        k.dot(fit_->weights) - beyond(a.gpu_type, at_a) + beyond(b.gpu_type, at_b);
    variance -= fit_->factor.matrixL().solve(k).squaredNorm();
  }
  see(forecast, profile, configuration_a);
  forecast.stddev = std::min(std::sqrt(std::max(variance, 0.0)), kMaxStddev);
  return forecast;
}

std::vector<std::vector<double>> ThroughputModel::covariance(
    const ProfileName& profile, std::span<const JobConfiguration> configurations) const {
  const std::size_t m = configurations.size();
  std::vector<KernelPoint> at;
  for (const JobConfiguration& configuration : configurations)
    at.push_back(at.empty()
                     ? points_.at(profile, configuration)
                     : points_.at(profile, configuration, at.front(), configurations.front()));
  Eigen::MatrixXd solved;
  if (fit_ != nullptr) {
    solved.resize(fit_->residuals.size(), static_cast<Eigen::Index>(m));
    for (std::size_t i = 0; i < m; ++i)
      solved.col(static_cast<Eigen::Index>(i)) = fit_->against(weights_, at[i]);
    fit_->factor.matrixL().solveInPlace(solved);
  }
  std::vector<std::vector<double>> result(m, std::vector<double>(m));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double value = kernel(weights_, at[i], at[j]);
      if (fit_ != nullptr)
        value -=
            solved.col(static_cast<Eigen::Index>(i)).dot(solved.col(static_cast<Eigen::Index>(j)));
      result[i][j] = result[j][i] = value;
    }
  }
  return result;
}

std::vector<std::optional<Forecast>> ThroughputModel::leave_one_out() const {
  std::vector<std::optional<Forecast>> result(observations_.size());
  if (fit_ == nullptr) return result;
  const auto n = fit_->residuals.size();
  const Eigen::MatrixXd inverse = fit_->factor.solve(Eigen::MatrixXd::Identity(n, n));
  for (std::size_t row = 0; row < fit_->observation_of.size(); ++row) {
    const auto i = static_cast<Eigen::Index>(row);
    const ThroughputObservation& observation = observations_[fit_->observation_of[row]];
    const double variance = 1 / inverse(i, i);
    Forecast forecast;
    forecast.log_throughput = std::log(observation.throughput) - fit_->weights(i) * variance;
    forecast.stddev = std::sqrt(std::max(variance, 0.0));
    forecast.known_profile = true;
    result[fit_->observation_of[row]] = forecast;
  }
  return result;
}

void ThroughputModel::warm(const ThroughputModel& other) const {
  constexpr std::size_t kMaxWarm = 1024;
  other.cache_->each(kMaxWarm, [this](const ForecastCache::View& view) {
    (void)kept(view.profile, view.gpu_type, view.gpus, view.configuration);
  });
}

}  // namespace rubato

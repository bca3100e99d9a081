// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/step_time/step_time.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <limits>
#include <set>
#include <tuple>

#include "lib/model/numeric/bounded_fit.h"
#include "lib/model/numeric/nnls.h"

namespace rubato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Row = Eigen::Matrix<double, kStepTerms, 1>;

// Samples outside these bounds are mistakes.
constexpr double kMinSeconds = 1e-6;
constexpr double kMaxSeconds = 1e5;
constexpr int kMaxTasks = 100000;
constexpr double kMaxBatch = 1e9;
constexpr double kMaxCores = 1e4;

constexpr double kMaxFactor = 1e4;    // of a worker on CPUs
constexpr double kUsualNoise = 0.05;  // of a configuration, if unknown
constexpr double kMinNoise = 0.01;
constexpr double kMaxNoise = 1.0;
constexpr double kMaxStddev = 3.0;
constexpr int kSearch = 500;  // evaluations per search over the curves
// Prior share of each term in a typical step, and its standard deviation.
constexpr double kBelief[kStepTerms] = {0.7, 0.05, 0.05, 0.02, 0.02, 0.01, 0.05};
constexpr double kDoubt[kStepTerms] = {0.4, 0.2, 0.3, 0.2, 0.15, 0.15, 0.2};
// Standard deviation, in ln, for a kind of worker or exchange without measurements.
constexpr double kUnseen = 1.5;
constexpr double kContradiction = 2.0;  // between samples of one configuration
constexpr double kMisses = 1.0 / 3;

double square(double x) { return x * x; }

bool usable(const StepSample& sample) {
  const StepShape& s = sample.shape;
  const auto within = [](double value, double least, double most) {
    return std::isfinite(value) && value >= least && value <= most;
  };
  return within(sample.seconds, kMinSeconds, kMaxSeconds) && within(s.batch, 1, kMaxBatch) &&
         within(s.worker_cores, 0, kMaxCores) && within(s.server_cores, 0, kMaxCores) &&
         within(s.servers, 0, kMaxTasks) && within(s.workers, 1, kMaxTasks) &&
         within(s.gpus, 0, kMaxTasks);
}

StepShape sensible(StepShape s) {
  const auto real = [](double value, double least, double most, double otherwise) {
    return std::isfinite(value) ? std::clamp(value, least, most) : otherwise;
  };
  s.servers = std::clamp(s.servers, 0, kMaxTasks);
  s.workers = std::clamp(s.workers, 1, kMaxTasks);
  s.gpus = std::clamp(s.gpus, 0, kMaxTasks);
  s.batch = real(s.batch, 1, kMaxBatch, 1);
  s.worker_cores = real(s.worker_cores, 0, kMaxCores, 0);
  s.server_cores = real(s.server_cores, 0, kMaxCores, 0);
  return s;
}

auto key_of(const StepShape& s) {
  return std::tie(s.servers, s.workers, s.gpus, s.worker_cores, s.server_cores, s.batch);
}

Row row_of(const StepShape& s, const StepTimeModel::Curves& curves) {
  const double w = s.workers;
  const double p = s.servers;
  const double slow = s.gpus > 0 ? 1 : curves.cpu_factor * curves.worker.slowdown(s.worker_cores);
  const double per_server = p > 0 ? w / p : (w - 1) / w;
  Row row;
  row << slow * s.batch / w, slow, per_server,
      p > 0 ? curves.server.slowdown(s.server_cores) * per_server : 0, w, p, s.gpus;
  return row;
}

struct System {
  MatrixXd a;  ///< rows divided by the measured seconds, so that b is all ones
  Ridge prior;
};

// Uses one unit: the share of each term in a typical step.
System system_of(const std::vector<StepSample>& configurations, const StepTimeModel::Curves& curves,
                 double noise) {
  const auto n = static_cast<Index>(configurations.size());
  System system{MatrixXd(n, kStepTerms), {VectorXd(kStepTerms), VectorXd(kStepTerms)}};
  double log_seconds = 0;
  for (Index i = 0; i < n; ++i) {
    const StepSample& sample = configurations[static_cast<std::size_t>(i)];
    system.a.row(i) = row_of(sample.shape, curves).transpose() / sample.seconds;
    log_seconds += std::log(sample.seconds);
  }
  const double typical = std::exp(log_seconds / static_cast<double>(n));
  for (Index j = 0; j < kStepTerms; ++j) {
    // A term that no sample has gets a scale of 1.
    const double share = system.a.col(j).mean();
    const double scale = share > 0 ? 1 / share : typical;
    system.prior.mean(j) = kBelief[j] * scale;
    system.prior.weight(j) = square(noise / (kDoubt[j] * scale));
  }
  return system;
}

double objective_of(const System& system, const NnlsResult& found) {
  const VectorXd off = found.x - system.prior.mean;
  return square(found.residual) + off.cwiseAbs2().dot(system.prior.weight);
}

// Merges samples of one configuration to their median; sets `differ` if they contradict.
std::vector<StepSample> joined(std::vector<StepSample> samples, bool& differ) {
  std::sort(samples.begin(), samples.end(), [](const StepSample& a, const StepSample& b) {
    return std::tuple(key_of(a.shape), a.seconds) < std::tuple(key_of(b.shape), b.seconds);
  });
  std::vector<StepSample> result;
  for (std::size_t begin = 0; begin < samples.size();) {
    std::size_t end = begin;
    while (end < samples.size() && samples[end].shape == samples[begin].shape) ++end;
    const std::size_t low = begin + (end - begin - 1) / 2;
    const std::size_t high = begin + (end - begin) / 2;
    const std::size_t quarter = (end - begin) / 4;
    // Ignores the outer quarters, as the median does.
    if (samples[end - 1 - quarter].seconds > kContradiction * samples[begin + quarter].seconds)
      differ = true;
    result.push_back(
        {samples[begin].shape, std::sqrt(samples[low].seconds * samples[high].seconds)});
    begin = end;
  }
  return result;
}

template <typename Member>
std::set<double> distinct(const std::vector<StepSample>& samples, Member of) {
  std::set<double> values;
  for (const StepSample& sample : samples)
    if (const double value = of(sample.shape); value > 0) values.insert(value);
  return values;
}

}  // namespace

StepTimeModel::StepTimeModel(std::vector<StepSample> samples)
    : curves_{usual_worker_curve(), usual_server_curve(), 1} {
  information_.setIdentity();
  const std::size_t given = samples.size();
  std::erase_if(samples, [](const StepSample& sample) { return !usable(sample); });
  report_.dropped = static_cast<int>(given - samples.size());
  report_.samples = static_cast<int>(samples.size());
  if (samples.empty()) return;
  const std::vector<StepSample> configurations = joined(std::move(samples), report_.contradictory);
  report_.configurations = static_cast<int>(configurations.size());
  report_.kind = report_.configurations >= kFullFit ? StepFit::kFull : StepFit::kReduced;
  count_kinds(configurations);
  search_curves(configurations);
  solve(configurations);
  judge(configurations);
}

void StepTimeModel::count_kinds(const std::vector<StepSample>& configurations) {
  for (const StepSample& sample : configurations) {
    (sample.shape.gpus > 0 ? saw_gpu_ : saw_cpu_) = true;
    if (sample.shape.servers > 0) saw_servers_ = true;
    if (sample.shape.servers == 0 && sample.shape.workers > 1) saw_exchange_ = true;
  }
}

// Searches only parameters that the samples determine; the others keep their usual values.
void StepTimeModel::search_curves(const std::vector<StepSample>& configurations) {
  std::vector<FitParameter> parameters;
  std::vector<double*> targets;
  const auto search = [&](double& value, double low, double high) {
    parameters.push_back({std::abs(value), low, high, true});
    targets.push_back(&value);
  };
  const auto worker_cores =
      distinct(configurations, [](const StepShape& s) { return s.gpus > 0 ? 0 : s.worker_cores; });
  const auto server_cores = distinct(
      configurations, [](const StepShape& s) { return s.servers > 0 ? s.server_cores : 0; });
  if (worker_cores.size() >= 2) search(curves_.worker.k, 0.05, 10);
  if (worker_cores.size() >= 3) search(curves_.worker.alpha, 1e-3, 5);
  if (server_cores.size() >= 2) search(curves_.server.k, 0.05, 10);
  if (server_cores.size() >= 3) search(curves_.server.alpha, 1e-3, 5);
  if (saw_cpu_ && saw_gpu_) {
    // Starts near the medians: the logarithmic search alone would take long.
    curves_.cpu_factor = 10;
    search(curves_.cpu_factor, 0.05, kMaxFactor);
  }
  if (parameters.empty()) return;
  const auto set = [&](std::span<const double> values) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const bool alpha = targets[i] == &curves_.worker.alpha || targets[i] == &curves_.server.alpha;
      *targets[i] = alpha ? -values[i] : values[i];
    }
  };
  const FitResult found = minimise(
      parameters,
      [&](std::span<const double> values) {
        set(values);
        const System system = system_of(configurations, curves_, kUsualNoise);
        double pull = 0;
        for (std::size_t i = 0; i < values.size(); ++i)
          pull += square(kUsualNoise * std::log(values[i] / parameters[i].start));
        return objective_of(system, nnls(system.a, VectorXd::Ones(system.a.rows()), system.prior)) +
               pull;
      },
      kSearch);
  set(found.values);
}

// Solves twice: the residuals of the first solution give the noise, and thus the weight of the
// prior.
void StepTimeModel::solve(const std::vector<StepSample>& configurations) {
  const auto n = static_cast<double>(configurations.size());
  double noise = kUsualNoise;
  for (int pass = 0; pass < 2; ++pass) {
    const System system = system_of(configurations, curves_, noise);
    const NnlsResult found = nnls(system.a, VectorXd::Ones(system.a.rows()), system.prior);
    for (int j = 0; j < kStepTerms; ++j) throughput_[static_cast<std::size_t>(j)] = found.x(j);
    if (!found.solved) report_.contradictory = true;
    MatrixXd information = system.a.transpose() * system.a;
    information.diagonal() += system.prior.weight;
    information_ = information;
    if (n > kStepTerms) {
      noise = std::clamp(found.residual / std::sqrt(n - kStepTerms), kMinNoise, kMaxNoise);
    } else {
      noise = std::clamp(found.residual / std::sqrt(n), kUsualNoise, kMaxNoise);
    }
    report_.noise = noise;
  }
}

void StepTimeModel::judge(const std::vector<StepSample>& configurations) {
  std::size_t misses = 0;
  for (const StepSample& sample : configurations) {
    const double off = std::abs(std::log(seconds_at(sample.shape) / sample.seconds));
    if (off > kMisses) ++misses;
  }
  if (2 * misses > configurations.size()) report_.contradictory = true;
}

double StepTimeModel::seconds_at(const StepShape& shape) const {
  const Row row = row_of(shape, curves_);
  double seconds = 0;
  for (int j = 0; j < kStepTerms; ++j) seconds += throughput_[static_cast<std::size_t>(j)] * row(j);
  return std::isfinite(seconds) ? std::clamp(seconds, kMinSeconds, kMaxSeconds) : kMaxSeconds;
}

StepForecast StepTimeModel::predict(const StepShape& shape) const {
  StepForecast forecast;
  if (report_.kind == StepFit::kNone) return forecast;
  const StepShape at = sensible(shape);
  forecast.known = true;
  forecast.seconds = seconds_at(at);
  const bool unseen_worker = at.gpus > 0 ? !saw_gpu_ : !saw_cpu_;
  const bool unseen_servers = at.servers > 0 && !saw_servers_;
  const bool unseen_exchange = at.servers == 0 && at.workers > 1 && !saw_exchange_;
  forecast.extrapolated = unseen_worker || unseen_servers || unseen_exchange;
  const Row row = row_of(at, curves_) / forecast.seconds;
  // Covariance of the coefficients: noise^2 information^-1.
  const double leverage = row.dot(information_.ldlt().solve(row));
  double variance = square(report_.noise) * (1 + std::max(leverage, 0.0));
  if (unseen_worker) variance += square(kUnseen);
  if (unseen_servers || unseen_exchange) variance += square(kUnseen / 3);
  if (report_.contradictory) variance += 1;
  forecast.stddev =
      std::isfinite(variance) ? std::min(std::sqrt(variance), kMaxStddev) : kMaxStddev;
  return forecast;
}

std::vector<std::size_t> StepTimeModel::most_informative_step(std::span<const StepShape> candidates,
                                                              std::size_t most) const {
  std::vector<std::size_t> chosen;
  if (candidates.empty()) return chosen;
  Eigen::Matrix<double, kStepTerms, kStepTerms> information = information_;
  std::vector<Row> rows;
  if (report_.kind == StepFit::kNone) {
    // Without measurements: only the prior, for steps of a second.
    std::vector<StepSample> imagined;
    for (const StepShape& shape : candidates) imagined.push_back({sensible(shape), 1.0});
    const System system = system_of(imagined, curves_, kUsualNoise);
    information = system.prior.weight.asDiagonal();
    for (Index i = 0; i < system.a.rows(); ++i) rows.emplace_back(system.a.row(i).transpose());
  } else {
    for (const StepShape& shape : candidates) {
      const StepShape at = sensible(shape);
      rows.emplace_back(row_of(at, curves_) / seconds_at(at));
    }
  }
  std::vector<bool> taken(rows.size(), false);
  while (chosen.size() < std::min(most, rows.size())) {
    const auto factor = information.ldlt();
    std::size_t best = rows.size();
    double gain = -1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (taken[i]) continue;
      const double value = rows[i].dot(factor.solve(rows[i]));
      // Takes the first of candidates that are equal up to rounding.
      if (value > gain * (1 + 1e-9) || best == rows.size()) {
        best = i;
        gain = value;
      }
    }
    taken[best] = true;
    chosen.push_back(best);
    information += rows[best] * rows[best].transpose();
  }
  return chosen;
}

}  // namespace rubato

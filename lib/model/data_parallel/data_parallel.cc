// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/data_parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/model/data_parallel/data_parallel_fit.h"
#include "lib/model/numeric/choose_rows.h"

namespace rubato {
namespace dp = data_parallel;

struct DataParallelModel::Fit {
  dp::LatentState state;
  double least_batch = 0;
  double most_batch = 0;
  int max_gpus = 0;
  bool across = false;  ///< there are measurements across nodes
  bool inside = false;  ///< there are measurements on several GPUs of a node

  [[nodiscard]] double step(const DataParallelConfiguration& at) const {
    return dp::joined(dp::pass_seconds(state, at), dp::sync_seconds(state, at),
                      state.family.overlap);
  }
};

namespace {

// Bounds of the time of a training step, seconds.
constexpr double kMinSeconds = 1e-9;
constexpr double kMaxSeconds = 1e9;
constexpr double kMaxBatch = 1e9;
constexpr int kMaxGpus = 1'000'000;
constexpr double kExtrapolation = 2.0;

}  // namespace

bool valid(const DataParallelConfiguration& at) {
  return at.local_batch > 0 && at.local_batch <= kMaxBatch && at.gpus >= 1 && at.gpus <= kMaxGpus &&
         at.nodes >= 1 && at.nodes <= at.gpus;
}

std::string_view to_string(DataParallelFlag flag) {
  switch (flag) {
    case DataParallelFlag::kFewConfigurations:
      return "few places";
    case DataParallelFlag::kOneBatch:
      return "one batch";
    case DataParallelFlag::kDropped:
      return "dropped samples";
    case DataParallelFlag::kSyncOutside:
      return "sync outside step";
    case DataParallelFlag::kThinned:
      return "thinned";
    case DataParallelFlag::kContradictory:
      return "contradictory";
  }
  return "unknown";
}

DataParallelModel::DataParallelModel(std::span<const DataParallelSample> samples,
                                     DataParallelPrior prior) {
  std::vector<DataParallelFlag> flags;
  std::vector<dp::StepObservation> measured =
      dp::join(samples, prior.correct ? kMaxConfigurations : kMaxPlain, flags);
  auto fit = std::make_unique<Fit>();
  if (measured.empty()) {
    fit->state = dp::believed(prior, 1, 1);
    fit->state.flags = std::move(flags);
    fit->state.flags.insert(fit->state.flags.begin(), DataParallelFlag::kFewConfigurations);
    fit_ = std::move(fit);
    return;
  }
  fit->least_batch = std::numeric_limits<double>::infinity();
  for (const dp::StepObservation& m : measured) {
    fit->least_batch = std::min(fit->least_batch, m.at.local_batch);
    fit->most_batch = std::max(fit->most_batch, m.at.local_batch);
    fit->max_gpus = std::max(fit->max_gpus, m.at.gpus);
    fit->across = fit->across || m.at.nodes > 1;
    fit->inside = fit->inside || (m.at.nodes == 1 && m.at.gpus > 1);
  }
  fit->state = dp::fit(prior, std::move(measured), std::move(flags));
  double sum = 0;
  for (const dp::StepObservation& m : fit->state.measured) {
    const double off = std::log(fit->step(m.at)) - m.log_step;
    sum += off * off;
  }
  fit->state.error = std::sqrt(sum / static_cast<double>(fit->state.measured.size()));
  fit_ = std::move(fit);
}

DataParallelModel::~DataParallelModel() = default;
DataParallelModel::DataParallelModel(DataParallelModel&&) noexcept = default;
DataParallelModel& DataParallelModel::operator=(DataParallelModel&&) noexcept = default;

bool DataParallelModel::empty() const { return fit_->state.measured.empty(); }

const DataParallelFamily& DataParallelModel::family() const { return fit_->state.family; }

const std::vector<DataParallelFlag>& DataParallelModel::flags() const { return fit_->state.flags; }

std::size_t DataParallelModel::configurations() const { return fit_->state.measured.size(); }

double DataParallelModel::error() const { return fit_->state.error; }

double DataParallelModel::iteration_seconds(const DataParallelConfiguration& at, int passes) const {
  if (empty() || !valid(at) || passes < 1) return std::numeric_limits<double>::infinity();
  const double pass = passes > 1 ? dp::pass_seconds(fit_->state, at) : 0;
  return std::clamp((passes - 1) * pass + fit_->step(at), kMinSeconds, kMaxSeconds);
}

std::optional<DataParallelForecast> DataParallelModel::iteration(
    const DataParallelConfiguration& at, int passes) const {
  if (empty() || !valid(at) || passes < 1) return std::nullopt;
  const dp::LatentState& state = fit_->state;
  DataParallelForecast forecast;
  forecast.seconds = iteration_seconds(at, passes);
  forecast.extrapolated = at.local_batch * kExtrapolation < fit_->least_batch ||
                          at.local_batch > kExtrapolation * fit_->most_batch ||
                          at.gpus > kExtrapolation * fit_->max_gpus ||
                          (at.nodes > 1 && !fit_->across) ||
                          (at.nodes == 1 && at.gpus > 1 && !fit_->inside);
  const dp::Feature f = dp::feature(state, at);
  Eigen::VectorXd shared(static_cast<Eigen::Index>(state.features.size()));
  for (std::size_t i = 0; i < state.features.size(); ++i) {
    shared[static_cast<Eigen::Index>(i)] = dp::covariance(state, f, state.features[i]);
  }
  const double known = state.factor->matrixL().solve(shared).squaredNorm();
  const double noise = state.prior.noise * state.prior.noise;
  forecast.stddev = std::sqrt(std::max(0.0, dp::covariance(state, f, f) - known) + noise);
  return forecast;
}

std::optional<DataParallelForecast> DataParallelModel::step(
    const DataParallelConfiguration& at) const {
  return iteration(at, 1);
}

std::optional<std::size_t> DataParallelModel::most_informative_row(
    std::span<const DataParallelConfiguration> candidates, const std::vector<bool>& taken,
    std::span<const double> weights) const {
  if (candidates.size() != taken.size() || candidates.empty()) return std::nullopt;
  const auto n = static_cast<Eigen::Index>(candidates.size());
  double log_batch = 0;
  for (const DataParallelConfiguration& at : candidates) {
    if (!valid(at)) return std::nullopt;
    log_batch += std::log(at.local_batch);
  }
  // Without measurements, the candidates themselves define the usual batch.
  const dp::LatentState believed =
      dp::believed(fit_->state.prior, std::exp(log_batch / static_cast<double>(n)), 1);
  const dp::LatentState& state = empty() ? believed : fit_->state;
  std::vector<dp::Feature> features;
  for (const DataParallelConfiguration& at : candidates) features.push_back(dp::feature(state, at));
  const auto known = static_cast<Eigen::Index>(state.features.size());
  Eigen::MatrixXd shared(known, n);
  Eigen::MatrixXd stddev(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const dp::Feature& a = features[static_cast<std::size_t>(i)];
    for (Eigen::Index k = 0; k < known; ++k) {
      shared(k, i) = dp::covariance(state, a, state.features[static_cast<std::size_t>(k)]);
    }
    for (Eigen::Index j = 0; j <= i; ++j) {
      stddev(i, j) = dp::covariance(state, a, features[static_cast<std::size_t>(j)]);
      stddev(j, i) = stddev(i, j);
    }
  }
  if (known > 0) {
    const Eigen::MatrixXd explained = state.factor->matrixL().solve(shared);
    stddev -= explained.transpose() * explained;
  }
  const double noise = state.prior.noise * state.prior.noise;
  return choose_row({stddev.data(), static_cast<std::size_t>(n * n)}, noise, taken, weights);
}

}  // namespace rubato

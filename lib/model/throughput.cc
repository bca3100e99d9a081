// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <eigen3/Eigen/Core>
#include <tuple>
#include <utility>

namespace rubato {
namespace {

double square(double x) { return x * x; }

auto place_of(const RateCell& cell) { return std::tie(cell.profile, cell.gpu_type, cell.gpus); }

bool usable(const RateCell& cell) {
  return std::isfinite(cell.rate) && cell.rate > 0 && cell.gpus > 0 && cell.samples > 0;
}

// Sorted by place; cells of one place become their weighted mean in log space.
std::vector<RateCell> joined(std::vector<RateCell> cells) {
  std::erase_if(cells, [](const RateCell& cell) { return !usable(cell); });
  std::sort(cells.begin(), cells.end(), [](const RateCell& a, const RateCell& b) {
    return std::tuple(place_of(a), a.rate, a.samples) < std::tuple(place_of(b), b.rate, b.samples);
  });
  std::vector<RateCell> result;
  for (RateCell& cell : cells) {
    if (result.empty() || place_of(result.back()) != place_of(cell)) {
      result.push_back(std::move(cell));
      continue;
    }
    RateCell& into = result.back();
    const auto have = static_cast<double>(into.samples);
    const auto more = static_cast<double>(cell.samples);
    into.rate = std::exp((have * std::log(into.rate) + more * std::log(cell.rate)) / (have + more));
    into.samples += cell.samples;
  }
  return result;
}

void keep_most_measured(std::vector<RateCell>& cells, std::size_t most) {
  if (cells.size() <= most) return;
  std::stable_sort(cells.begin(), cells.end(),
                   [](const RateCell& a, const RateCell& b) { return a.samples > b.samples; });
  cells.resize(most);
  std::sort(cells.begin(), cells.end(),
            [](const RateCell& a, const RateCell& b) { return place_of(a) < place_of(b); });
}

}  // namespace

double Forecast::rate() const { return std::exp(log_rate); }

struct ThroughputModel::Fit {
  Eigen::LLT<Eigen::MatrixXd> factor;  ///< of kernel + noise
  Eigen::VectorXd weights;             ///< its inverse times the residuals
};

ThroughputModel::ThroughputModel(TypeSpeeds speeds, ThroughputPrior prior)
    : ThroughputModel(std::move(speeds), {}, prior) {}

ThroughputModel::ThroughputModel(TypeSpeeds speeds, std::vector<RateCell> cells,
                                 ThroughputPrior prior)
    : speeds_(std::move(speeds)), prior_(prior), cells_(joined(std::move(cells))) {
  keep_most_measured(cells_, kMostCells);
  fit();
}

ThroughputModel::~ThroughputModel() = default;

double ThroughputModel::prior_mean(const std::string& gpu_type, int gpus) const {
  return std::log(speeds_.speed(gpu_type)) + prior_.exponent * std::log(std::max(gpus, 1));
}

double ThroughputModel::kernel(const RateCell& a, const RateCell& b) const {
  const double sizes = std::log(std::max(a.gpus, 1)) * std::log(std::max(b.gpus, 1));
  const bool same_type = a.gpu_type == b.gpu_type;
  double k = square(prior_.common_scaling) * sizes;
  if (same_type) k += square(prior_.type_speed);
  if (a.profile != b.profile) return k;
  k += square(prior_.level) + square(prior_.scaling) * sizes;
  if (same_type) k += square(prior_.type_affinity);
  if (same_type && a.gpus == b.gpus) k += square(prior_.cell);
  return k;
}

void ThroughputModel::fit() {
  const auto n = static_cast<Eigen::Index>(cells_.size());
  if (n == 0) return;
  Eigen::MatrixXd k(n, n);
  Eigen::VectorXd residuals(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const RateCell& cell = cells_[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j <= i; ++j)
      k(i, j) = kernel(cell, cells_[static_cast<std::size_t>(j)]);
    k(i, i) +=
        square(prior_.report_floor) + square(prior_.report) / static_cast<double>(cell.samples);
    residuals(i) = std::log(cell.rate) - prior_mean(cell.gpu_type, cell.gpus);
  }
  auto fit = std::make_unique<Fit>();
  fit->factor.compute(k);  // reads the lower half; the noise keeps it positive definite
  fit->weights = fit->factor.solve(residuals);
  fit_ = std::move(fit);
}

Forecast ThroughputModel::predict(const ProfileName& profile, const std::string& gpu_type,
                                  int gpus) const {
  const RateCell at{profile, gpu_type, std::max(gpus, 1), 0, 0};
  const std::lock_guard lock(mutex_);
  const auto [kept, fresh] = kept_.try_emplace({profile, gpu_type, at.gpus});
  if (fresh) kept->second = compute(at);
  return kept->second;
}

Forecast ThroughputModel::compute(const RateCell& at) const {
  Forecast forecast{.log_rate = prior_mean(at.gpu_type, at.gpus)};
  double variance = kernel(at, at);
  if (fit_ != nullptr) {
    Eigen::VectorXd k(static_cast<Eigen::Index>(cells_.size()));
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const RateCell& cell = cells_[i];
      k(static_cast<Eigen::Index>(i)) = kernel(at, cell);
      if (cell.profile == at.profile) forecast.known_profile = true;
      if (place_of(cell) == place_of(at)) forecast.samples = cell.samples;
    }
    forecast.log_rate += k.dot(fit_->weights);
    variance -= fit_->factor.matrixL().solve(k).squaredNorm();
  }
  forecast.spread = std::sqrt(std::max(variance, 0.0));
  return forecast;
}

Forecast ThroughputModel::ratio(const ProfileName& profile, const Place& a, const Place& b) const {
  const RateCell at_a{profile, a.gpu_type, std::max(a.gpus, 1)};
  const RateCell at_b{profile, b.gpu_type, std::max(b.gpus, 1)};
  Forecast forecast{.log_rate = prior_mean(at_a.gpu_type, at_a.gpus) -
                                prior_mean(at_b.gpu_type, at_b.gpus)};
  double variance = kernel(at_a, at_a) + kernel(at_b, at_b) - 2 * kernel(at_a, at_b);
  if (fit_ != nullptr) {
    Eigen::VectorXd k(static_cast<Eigen::Index>(cells_.size()));
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const RateCell& cell = cells_[i];
      k(static_cast<Eigen::Index>(i)) = kernel(at_a, cell) - kernel(at_b, cell);
      if (cell.profile == profile) forecast.known_profile = true;
      if (place_of(cell) == place_of(at_a)) forecast.samples = cell.samples;
    }
    forecast.log_rate += k.dot(fit_->weights);
    variance -= fit_->factor.matrixL().solve(k).squaredNorm();
  }
  forecast.spread = std::sqrt(std::max(variance, 0.0));
  return forecast;
}

}  // namespace rubato

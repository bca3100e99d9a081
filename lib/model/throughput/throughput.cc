// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/throughput.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <eigen3/Eigen/Core>
#include <mutex>
#include <shared_mutex>
#include <tuple>

#include "lib/model/throughput/forecast_cache.h"
#include "lib/model/throughput/rate_span.h"

namespace rubato {
namespace {

// Of ln rate: no computer ever built makes more or fewer samples a second.
constexpr double kFarLogRate = 60;
constexpr double kMostSpread = 50;
// Wrong reports can give any exponent. Beyond what was measured those of GPUs, of the batch a GPU
// and of nodes lie in these bounds; what is special about the last place measured comes on top,
// with so much room that forecasts from what jobs did measure stay as they are.
struct Exponents {
  double least;
  double most;

  /// What ln rate can change by where the other number changes by `ln`.
  [[nodiscard]] std::pair<double, double> of(double ln) const {
    return std::minmax({least * ln, most * ln});
  }
};
constexpr Exponents kOfSize{-1, 1.1};
constexpr Exponents kOfBatch{-0.1, 1};
constexpr Exponents kOfNodes{-1, 0.1};
constexpr double kMostSpecial = 1.5;

auto order_of(const RateCell& cell) {
  return std::tie(cell.profile, cell.gpu_type, cell.gpus, cell.nodes, cell.batch, cell.plan);
}

bool usable(const RateCell& cell) {
  return std::isfinite(cell.rate) && cell.rate >= 0 && cell.gpus > 0 && cell.samples > 0 &&
         cell.nodes >= 0 && cell.batch >= 0 && std::isfinite(cell.weight) && cell.weight >= 0;
}

bool fits(const RateCell& cell) { return cell.rate > 0; }

double reports_of(const RateCell& cell) {
  return cell.weight > 0 ? cell.weight : static_cast<double>(cell.samples);
}

void join(RateCell& into, const RateCell& cell) {
  if (!fits(into) || !fits(cell)) {
    // That it ran says more than that it did not.
    if (fits(cell)) into = cell;
    return;
  }
  const double have = reports_of(into);
  const double more = reports_of(cell);
  const bool weighted = into.weight > 0 || cell.weight > 0;
  into.rate = std::exp((have * std::log(into.rate) + more * std::log(cell.rate)) / (have + more));
  into.samples += cell.samples;
  if (weighted) into.weight = have + more;
}

// Sorted by place; cells of one place become their weighted mean in log space.
std::vector<RateCell> joined(std::vector<RateCell> cells) {
  std::erase_if(cells, [](const RateCell& cell) { return !usable(cell); });
  std::sort(cells.begin(), cells.end(), [](const RateCell& a, const RateCell& b) {
    return std::tuple(order_of(a), a.rate, a.samples, a.weight) <
           std::tuple(order_of(b), b.rate, b.samples, b.weight);
  });
  std::vector<RateCell> result;
  for (RateCell& cell : cells) {
    if (!result.empty() && same_place(result.back(), cell))
      join(result.back(), cell);
    else
      result.push_back(std::move(cell));
  }
  return result;
}

void keep_most_measured(std::vector<RateCell>& cells, std::size_t most) {
  if (cells.size() <= most) return;
  std::stable_sort(cells.begin(), cells.end(),
                   [](const RateCell& a, const RateCell& b) { return a.samples > b.samples; });
  cells.resize(most);
  std::sort(cells.begin(), cells.end(), before);
}

std::vector<CurvePoint> sorted(std::vector<CurvePoint> curves, std::size_t most) {
  const auto key = [](const CurvePoint& point) { return std::tie(point.profile, point.place); };
  std::erase_if(curves, [](const CurvePoint& point) {
    return !std::isfinite(point.log_rate) || !std::isfinite(point.spread) ||
           point.place.gpus <= 0 || std::abs(point.log_rate) > kFarLogRate;
  });
  std::sort(curves.begin(), curves.end(), [&](const CurvePoint& a, const CurvePoint& b) {
    return std::tuple(key(a), a.spread, a.log_rate) < std::tuple(key(b), b.spread, b.log_rate);
  });
  curves.erase(std::unique(curves.begin(), curves.end(),
                           [&](const CurvePoint& a, const CurvePoint& b) {
                             return key(a) == key(b);  // the surer one stays
                           }),
               curves.end());
  if (curves.size() > most) curves.resize(most);
  return curves;
}

RatePoints points_of(const std::vector<RateCell>& cells, const std::vector<CurvePoint>& curves) {
  std::vector<std::pair<ProfileName, RatePlace>> places;
  std::vector<double> weights;
  for (const RateCell& cell : cells) {
    places.emplace_back(cell.profile, cell.place());
    weights.push_back(reports_of(cell));
  }
  for (const CurvePoint& point : curves) {
    places.emplace_back(point.profile, point.place);
    weights.push_back(0);  // what was measured says what is usual
  }
  return RatePoints(places, weights);
}

}  // namespace

bool before(const RateCell& a, const RateCell& b) { return order_of(a) < order_of(b); }
bool same_place(const RateCell& a, const RateCell& b) { return order_of(a) == order_of(b); }

double Forecast::rate() const { return feasible ? std::exp(log_rate) : 0; }

struct ThroughputModel::Fit {
  std::vector<RatePoint> points;     ///< of the rows: cells that fit, then points of curves
  std::vector<std::size_t> cell_of;  ///< which cell a row is, for the first ones
  Eigen::VectorXd residuals;
  Eigen::LLT<Eigen::MatrixXd> factor;  ///< of kernel + noise
  Eigen::VectorXd weights;             ///< its inverse times the residuals
  RateSpans spans;                     ///< of `points`

  [[nodiscard]] Eigen::VectorXd against(const KernelTerms& terms, const RatePoint& at) const {
    Eigen::VectorXd k(residuals.size());
    for (Eigen::Index i = 0; i < k.size(); ++i)
      k(i) = kernel(terms, at, points[static_cast<std::size_t>(i)]);
    return k;
  }
};

struct ThroughputModel::Cache : ForecastCache {
  using Pair = std::tuple<ProfileName, RatePlace, RatePlace>;
  std::shared_mutex ratio_mutex{};
  std::map<Pair, Forecast> ratios{};
};

ThroughputModel::ThroughputModel(TypeSpeeds speeds, ThroughputPrior prior)
    : ThroughputModel(std::move(speeds), {}, prior) {}

ThroughputModel::ThroughputModel(TypeSpeeds speeds, std::vector<RateCell> cells,
                                 ThroughputPrior prior, std::vector<CurvePoint> curves)
    : speeds_(std::move(speeds)),
      prior_(prior),
      weights_(kernel_weights(prior)),
      cells_(joined(std::move(cells))),
      curves_(sorted(std::move(curves), kMostCells)),
      cache_(std::make_unique<Cache>()) {
  keep_most_measured(cells_, kMostCells);
  points_ = points_of(cells_, curves_);
  fit();
}

ThroughputModel::~ThroughputModel() = default;

double ThroughputModel::prior_mean(const std::string& gpu_type, const RatePoint& at) const {
  return std::log(speeds_.speed(gpu_type)) + prior_log_rate(prior_, at);
}

void ThroughputModel::fit() {
  auto fit = std::make_unique<Fit>();
  std::vector<double> noises;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const RateCell& cell = cells_[i];
    if (!fits(cell)) continue;
    const RatePoint at = points_.at(cell.profile, cell.place());
    fit->points.push_back(at);
    fit->cell_of.push_back(i);
    noises.push_back(noise(prior_, reports_of(cell)));
    residuals.push_back(std::log(cell.rate) - prior_mean(cell.gpu_type, at));
  }
  for (const CurvePoint& point : curves_) {
    const RatePoint at = points_.at(point.profile, point.place);
    fit->points.push_back(at);
    const double spread = std::max(point.spread, kLeastCurveSpread);
    noises.push_back(spread * spread);
    residuals.push_back(point.log_rate - prior_mean(point.place.gpu_type, at));
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
  fit->factor.compute(k);  // reads the lower half; the noise keeps it positive definite
  fit->weights = fit->factor.solve(fit->residuals);
  for (const RatePoint& at : fit->points) fit->spans.add(at);
  fit_ = std::move(fit);
}

double ThroughputModel::beyond(const std::string& gpu_type, const RatePoint& at) const {
  if (fit_ == nullptr) return 0;
  const RatePoint near = fit_->spans.nearest(at);
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
  const auto mean = [&](const RatePoint& point) {
    return prior_mean(gpu_type, point) + fit_->against(weights_, point).dot(fit_->weights);
  };
  const double change = mean(at) - mean(near);
  return change - std::clamp(change, least - kMostSpecial, most + kMostSpecial);
}

RatePlace ThroughputModel::usual(const ProfileName& profile, RatePlace place) const {
  if (place.plan.empty()) place.plan = points_.usual_plan(profile);
  return place;
}

Forecast ThroughputModel::predict(const ProfileName& profile, const std::string& gpu_type,
                                  int gpus) const {
  return kept(profile, gpu_type, std::max(gpus, 1), nullptr);
}

Forecast ThroughputModel::predict(const ProfileName& profile, const RatePlace& place) const {
  return kept(profile, place.gpu_type, std::max(place.gpus, 1), &place);
}

Forecast ThroughputModel::kept(const ProfileName& profile, const std::string& gpu_type, int gpus,
                               const RatePlace* place) const {
  const ForecastCache::View view{profile, gpu_type, gpus, place};
  if (const std::optional<Forecast> found = cache_->find(view)) return *found;
  RatePlace at = place != nullptr ? *place : usual(profile, {.gpu_type = gpu_type, .gpus = gpus});
  at.gpus = gpus;
  const Forecast forecast = compute(profile, at);
  cache_->keep(view, forecast);
  return forecast;
}

// What stands in the list of cells about a place.
void ThroughputModel::see(Forecast& forecast, const ProfileName& profile,
                          const RatePlace& place) const {
  const RateCell first{.profile = profile, .gpu_type = {}, .gpus = 0};
  const auto begin = std::lower_bound(cells_.begin(), cells_.end(), first, before);
  const auto batch_of = [&](std::int64_t batch) {
    return batch > 0 ? batch : points_.usual_batch(profile, place.gpus);
  };
  const std::int64_t batch = batch_of(place.batch);
  bool refused = false;
  bool ran = false;
  for (auto cell = begin; cell != cells_.end() && cell->profile == profile; ++cell) {
    if (fits(*cell)) forecast.known_profile = true;
    if (cell->gpu_type != place.gpu_type || cell->gpus != place.gpus) continue;
    if (fits(*cell)) {
      forecast.samples += cell->samples;
      if (cell->plan == place.plan && batch_of(cell->batch) >= batch) ran = true;
      continue;
    }
    // What does not fit with one batch does not with a larger one.
    const bool nodes = cell->nodes == 0 || place.nodes == 0 || cell->nodes == place.nodes;
    if (nodes && cell->plan == place.plan && batch_of(cell->batch) <= batch) refused = true;
  }
  forecast.feasible = ran || !refused;
}

Forecast ThroughputModel::compute(const ProfileName& profile, const RatePlace& place) const {
  const RatePoint at = points_.at(profile, place);
  Forecast forecast{.log_rate = prior_mean(place.gpu_type, at)};
  double variance = kernel(weights_, at, at);
  if (fit_ != nullptr) {
    const Eigen::VectorXd k = fit_->against(weights_, at);
    forecast.log_rate += k.dot(fit_->weights) - beyond(place.gpu_type, at);
    variance -= fit_->factor.matrixL().solve(k).squaredNorm();
  }
  see(forecast, profile, place);
  // A curve makes levels mean something too.
  forecast.known_profile = forecast.known_profile || curve_of(profile);
  forecast.log_rate = std::clamp(forecast.log_rate, -kFarLogRate, kFarLogRate);
  forecast.spread = std::min(std::sqrt(std::max(variance, 0.0)), kMostSpread);
  return forecast;
}

bool ThroughputModel::curve_of(const ProfileName& profile) const {
  const auto at = std::lower_bound(
      curves_.begin(), curves_.end(), profile,
      [](const CurvePoint& point, const ProfileName& name) { return point.profile < name; });
  return at != curves_.end() && at->profile == profile;
}

Forecast ThroughputModel::ratio(const ProfileName& profile, const Place& a, const Place& b) const {
  Cache::Pair key{profile, a, b};
  {
    const std::shared_lock lock(cache_->ratio_mutex);
    if (const auto found = cache_->ratios.find(key); found != cache_->ratios.end())
      return found->second;
  }
  const Forecast forecast = compute_ratio(profile, a, b);
  const std::unique_lock lock(cache_->ratio_mutex);
  if (cache_->ratios.size() < ForecastCache::kMostKept)
    cache_->ratios.emplace(std::move(key), forecast);
  return forecast;
}

Forecast ThroughputModel::compute_ratio(const ProfileName& profile, const Place& a,
                                        const Place& b) const {
  const RatePlace place_a = usual(profile, a);
  const RatePlace place_b = usual(profile, b);
  const RatePoint at_a = points_.at(profile, place_a);
  const RatePoint at_b = points_.at(profile, place_b, at_a, place_a);
  Forecast forecast{.log_rate = prior_mean(a.gpu_type, at_a) - prior_mean(b.gpu_type, at_b)};
  double variance = kernel(weights_, at_a, at_a) + kernel(weights_, at_b, at_b) -
                    2 * kernel(weights_, at_a, at_b);
  if (fit_ != nullptr) {
    const Eigen::VectorXd k = fit_->against(weights_, at_a) - fit_->against(weights_, at_b);
    forecast.log_rate += k.dot(fit_->weights) - beyond(a.gpu_type, at_a) + beyond(b.gpu_type, at_b);
    variance -= fit_->factor.matrixL().solve(k).squaredNorm();
  }
  see(forecast, profile, place_a);
  forecast.spread = std::min(std::sqrt(std::max(variance, 0.0)), kMostSpread);
  return forecast;
}

std::vector<std::vector<double>> ThroughputModel::covariance(
    const ProfileName& profile, std::span<const RatePlace> places) const {
  const std::size_t m = places.size();
  std::vector<RatePoint> at;
  for (const RatePlace& place : places)
    at.push_back(at.empty() ? points_.at(profile, place)
                            : points_.at(profile, place, at.front(), places.front()));
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
  std::vector<std::optional<Forecast>> result(cells_.size());
  if (fit_ == nullptr) return result;
  const auto n = fit_->residuals.size();
  const Eigen::MatrixXd inverse = fit_->factor.solve(Eigen::MatrixXd::Identity(n, n));
  for (std::size_t row = 0; row < fit_->cell_of.size(); ++row) {
    const auto i = static_cast<Eigen::Index>(row);
    const RateCell& cell = cells_[fit_->cell_of[row]];
    const double variance = 1 / inverse(i, i);
    Forecast forecast;
    forecast.log_rate = std::log(cell.rate) - fit_->weights(i) * variance;
    forecast.spread = std::sqrt(std::max(variance, 0.0));
    forecast.known_profile = true;
    result[fit_->cell_of[row]] = forecast;
  }
  return result;
}

void ThroughputModel::warm(const ThroughputModel& other) const {
  constexpr std::size_t kMostWarm = 1024;
  other.cache_->each(kMostWarm, [this](const ForecastCache::View& view) {
    (void)kept(view.profile, view.gpu_type, view.gpus, view.place);
  });
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/data_parallel_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "lib/base/statistics.h"
#include "lib/model/data_parallel/data_parallel_latents.h"

namespace rubato::data_parallel {
namespace {

// The first search assumes this noise for every observation, because the share of synchronisation
// in a step is still unknown.
constexpr double kFirstNoise = 0.1;
constexpr int kSearches = 3;
constexpr int kEvaluations = 6000;
// In a large fit, an evaluation costs the square of the number of observations.
constexpr std::size_t kLargeFit = 64;
constexpr int kLargeEvaluations = 600;
// Keeps the covariance of observations invertible.
constexpr double kMinNoise = 1e-4;
constexpr int kRefinements = 12;
constexpr double kMaxRefinement = 1.0;
constexpr double kMinRefinement = 1e-9;
// An observation beyond this many standard deviations contradicts the others.
constexpr double kOutlier = 4.0;
// Samples of one configuration contradict if they differ by more than a factor of 1.5.
const double kDisagreement = std::log(1.5);

struct Observation {
  std::size_t configuration = 0;
  bool pass = false;  ///< of the pass only
  double value = 0;   ///< log seconds
  double variance = 0;
};

// Log seconds of observations, and their derivatives by the latents.
struct Forecasts {
  Eigen::VectorXd values;
  Eigen::MatrixXd slopes;
};

class Fitter {
 public:
  Fitter(DataParallelPrior prior, std::vector<StepObservation> measured) {
    prior.noise = std::max(prior.noise, kMinNoise);
    prior.sync_noise = std::max(prior.sync_noise, kMinNoise);
    believed_ = prior;
    std::vector<double> passes;
    double log_batch = 0;
    for (const StepObservation& m : measured) {
      passes.push_back(m.log_pass.value_or(m.log_step));
      log_batch += std::log(m.at.local_batch);
    }
    state_ = believed(prior, std::exp(log_batch / static_cast<double>(measured.size())),
                      std::exp(upper_median(std::move(passes))));
    state_.measured = std::move(measured);
    latents_ = latents(prior, state_.measured);
    for (std::size_t i = 0; i < state_.measured.size(); ++i) {
      const StepObservation& m = state_.measured[i];
      const double noise = prior.noise + m.disagreement;
      // Without the deviations, errors are in the lines, so each sample counts.
      const double count = prior.correct ? 1 : static_cast<double>(m.samples);
      observations_.push_back({i, false, m.log_step, noise * noise / count});
      // On one GPU a step is only a pass.
      if (m.log_pass && m.at.gpus > 1) {
        const double pass_noise = prior.sync_noise + m.disagreement;
        observations_.push_back({i, true, *m.log_pass, pass_noise * pass_noise / count});
      }
    }
  }

  LatentState run() {
    if (state_.prior.correct) {
      correct();
    } else {
      Eigen::VectorXd scale = noise().diagonal().cwiseSqrt();
      search([&](const Eigen::VectorXd& rest) { return rest.cwiseQuotient(scale).squaredNorm(); });
    }
    for (const Observation& o : observations_) {
      Feature f = feature(state_, state_.measured[o.configuration].at);
      if (o.pass) f = pass_only(f);
      state_.features.push_back(f);
    }
    factorise();
    return std::move(state_);
  }

 private:
  using Norm = std::function<double(const Eigen::VectorXd&)>;

  /// Fits the family and its deviations alternately.
  void correct() {
    const auto n = static_cast<Eigen::Index>(observations_.size());
    Eigen::MatrixXd v = Eigen::MatrixXd::Identity(n, n) * kFirstNoise * kFirstNoise;
    for (int i = 0; i < kSearches; ++i) {
      search_with(v);
      if (i == 0 || observations_.size() <= kLargeFit) widen();
      v = stddev_of_observations();
    }
    if (calm_outliers(v)) {
      search_with(stddev_of_observations());
      add_flag(DataParallelFlag::kContradictory);
    }
    deviate();
  }

  void search_with(const Eigen::MatrixXd& v) {
    const Eigen::LLT<Eigen::MatrixXd> factor(v);
    search([&](const Eigen::VectorXd& rest) { return factor.matrixL().solve(rest).squaredNorm(); });
  }

  void add_flag(DataParallelFlag flag) {
    if (std::ranges::find(state_.flags, flag) == state_.flags.end()) state_.flags.push_back(flag);
  }

  [[nodiscard]] const DataParallelConfiguration& at(const Observation& o) const {
    return state_.measured[o.configuration].at;
  }

  [[nodiscard]] Eigen::VectorXd forecast(const DataParallelFamily& family) const {
    Eigen::VectorXd values(static_cast<Eigen::Index>(observations_.size()));
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const Observation& o = observations_[i];
      const double pass = pass_time(family, at(o));
      const double sync = o.pass ? 0 : sync_time(family, at(o).gpus, at(o).nodes);
      values[static_cast<Eigen::Index>(i)] = std::log(joined(pass, sync, family.overlap));
    }
    return values;
  }

  // Forecasts with the deviations `u` of the latents.
  [[nodiscard]] Forecasts deviated(const Eigen::VectorXd& u) const {
    const auto n = static_cast<Eigen::Index>(observations_.size());
    Forecasts f{Eigen::VectorXd(n), Eigen::MatrixXd::Zero(n, u.size())};
    for (Eigen::Index i = 0; i < n; ++i) {
      const Observation& o = observations_[static_cast<std::size_t>(i)];
      const Eigen::Index p = latents_.pass_of[o.configuration];
      const Eigen::Index s = o.pass ? -1 : latents_.sync_of[o.configuration];
      const Eigen::Index own =
          latents_.first_configuration + static_cast<Eigen::Index>(o.configuration);
      const double pass = pass_time(state_.family, at(o)) * std::exp(u[p] + u[own]);
      const double sync =
          s < 0 ? 0 : sync_time(state_.family, at(o).gpus, at(o).nodes) * std::exp(u[s]);
      const double weight = pass_weight(pass, sync, state_.family.overlap);
      f.values[i] = std::log(joined(pass, sync, state_.family.overlap));
      f.slopes(i, p) = weight;
      f.slopes(i, own) = weight;
      if (s >= 0) f.slopes(i, s) = 1 - weight;
    }
    return f;
  }

  [[nodiscard]] Eigen::MatrixXd noise() const {
    const auto n = static_cast<Eigen::Index>(observations_.size());
    const double noisier = std::pow(state_.prior.noise / believed_.noise, 2);
    Eigen::MatrixXd r = Eigen::MatrixXd::Zero(n, n);
    for (Eigen::Index i = 0; i < n; ++i) {
      r(i, i) = observations_[static_cast<std::size_t>(i)].variance * noisier;
    }
    return r;
  }

  [[nodiscard]] Eigen::VectorXd values() const {
    Eigen::VectorXd y(static_cast<Eigen::Index>(observations_.size()));
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      y[static_cast<Eigen::Index>(i)] = observations_[i].value;
    }
    return y;
  }

  // Prior covariance of the residuals of the family.
  [[nodiscard]] Eigen::MatrixXd stddev_of_observations() const {
    const Forecasts f = deviated(Eigen::VectorXd::Zero(latents_.prior.rows()));
    return f.slopes * latents_.prior * f.slopes.transpose() + noise();
  }

  // Chooses the size and length scale of the deviations, and the noise of samples. Takes the most
  // likely of a few widths (Rasmussen & Williams, section 5.4); each factor of 2 lowers the prior.
  void widen() {
    const Eigen::VectorXd rest = values() - forecast(state_.family);
    double best = -std::numeric_limits<double>::infinity();
    Widths chosen;
    for (const Widths& w : all_widths()) {
      use(w);
      const Eigen::LLT<Eigen::MatrixXd> factor(stddev_of_observations());
      const Eigen::MatrixXd lower = factor.matrixL();
      const double doubt =
          w.length * w.length + w.pass * w.pass + w.sync * w.sync + w.noise * w.noise;
      const double likelihood = -0.5 * factor.matrixL().solve(rest).squaredNorm() -
                                lower.diagonal().array().log().sum() - 0.5 * doubt;
      if (likelihood > best) {
        best = likelihood;
        chosen = w;
      }
    }
    use(chosen);
  }

  void use(const Widths& w) {
    DataParallelPrior& prior = state_.prior;
    prior = believed_;
    prior.compute *= std::exp2(w.pass);
    prior.contention *= std::exp2(w.pass);
    prior.compute_length *= std::exp2(w.length);
    prior.contention_length *= std::exp2(w.length);
    prior.sync *= std::exp2(w.sync);
    prior.noise *= std::exp2(w.noise);
    prior.sync_noise *= std::exp2(w.noise);
    latents_ = latents(prior, state_.measured);
  }

  // Fits the parameters of the family: generalised least squares with the prior.
  void search(const Norm& norm) {
    const Eigen::VectorXd y = values();
    std::vector<FitParameter> parameters = bounds(state_.belief);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].start = std::clamp(state_.logs[i], parameters[i].low, parameters[i].high);
    }
    const FitObjective objective = [&](std::span<const double> logs) {
      Logs l = {};
      std::ranges::copy(logs, l.begin());
      const Eigen::VectorXd rest = y - forecast(family_of(l, state_.reference));
      double sum = norm(rest);
      for (std::size_t i = 0; i < l.size(); ++i) {
        const double z = (l[i] - state_.belief[i].mean) / state_.belief[i].stddev;
        sum += z * z;
      }
      return sum;
    };
    const bool costly = state_.prior.correct && observations_.size() > kLargeFit;
    const FitResult best =
        minimise(parameters, objective, costly ? kLargeEvaluations : kEvaluations);
    std::ranges::copy(best.values, state_.logs.begin());
    state_.family = family_of(state_.logs, state_.reference);
  }

  // Raises the noise of each observation that contradicts all others to the size of its error.
  bool calm_outliers(const Eigen::MatrixXd& v) {
    const Eigen::LLT<Eigen::MatrixXd> factor(v);
    const Eigen::VectorXd rest = values() - forecast(state_.family);
    const Eigen::VectorXd pull = factor.solve(rest);
    const Eigen::MatrixXd inverse =
        factor.solve(Eigen::MatrixXd::Identity(rest.size(), rest.size()));
    bool any = false;
    for (Eigen::Index i = 0; i < rest.size(); ++i) {
      // Leave-one-out residual `off` and its variance (Rasmussen & Williams 5.12).
      const double off = pull[i] / inverse(i, i);
      if (off * off * inverse(i, i) <= kOutlier * kOutlier) continue;
      observations_[static_cast<std::size_t>(i)].variance += off * off;
      any = true;
    }
    return any;
  }

  // Fits the deviations of pass and synchronisation: Gauss-Newton in the space of observations.
  void deviate() {
    const Eigen::VectorXd y = values();
    const Eigen::MatrixXd r = noise();
    Eigen::VectorXd u = Eigen::VectorXd::Zero(latents_.prior.rows());
    Eigen::VectorXd weights = u;
    for (int i = 0; i < kRefinements; ++i) {
      const Forecasts f = deviated(u);
      const Eigen::LLT<Eigen::MatrixXd> factor(f.slopes * latents_.prior * f.slopes.transpose() +
                                               r);
      const Eigen::VectorXd step =
          f.slopes.transpose() * factor.solve(y - f.values + f.slopes * u) - weights;
      const double longest = (latents_.prior * step).cwiseAbs().maxCoeff();
      if (!std::isfinite(longest)) break;
      weights += std::min(1.0, kMaxRefinement / std::max(longest, kMinRefinement)) * step;
      u = latents_.prior * weights;
      if (longest <= kMinRefinement) break;
    }
    const auto passes = static_cast<Eigen::Index>(latents_.passes.size());
    const auto syncs = static_cast<Eigen::Index>(latents_.syncs.size());
    state_.pass = {latents_.passes, weights.head(passes)};
    state_.sync = {latents_.syncs, weights.segment(passes, syncs)};
    state_.contention = {latents_.configurations, weights.tail(weights.size() - passes - syncs)};
  }

  [[nodiscard]] Feature pass_only(Feature f) const {
    const double total = pass_time(state_.family, {f.at.local_batch, 1, 1});
    f.slopes = {};
    f.slopes[0] = 1;
    f.slopes[1] = share_slope(total, f.at.local_batch);
    f.slopes[7] = std::log(static_cast<double>(f.at.gpus) / f.at.nodes);
    f.of_pass = 1;
    f.of_sync = 0;
    return f;
  }

  // d ln(pass) / d ln(fixed / growing).
  [[nodiscard]] double share_slope(double total, double local_batch) const {
    const double ratio = std::exp(state_.logs[1]);
    const double share = ratio / (1 + ratio);
    const double grown = std::exp(state_.logs[0]) * share * (1 - share);
    return grown * (1 - local_batch / state_.reference) / total;
  }

  void factorise() {
    const auto n = static_cast<Eigen::Index>(observations_.size());
    Eigen::MatrixXd v = noise();
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) {
        v(i, j) += covariance(state_, state_.features[static_cast<std::size_t>(i)],
                              state_.features[static_cast<std::size_t>(j)]);
      }
    }
    state_.factor.emplace(v);
  }

  LatentState state_;
  DataParallelPrior believed_;
  Latents latents_;
  std::vector<Observation> observations_;
};

}  // namespace

LatentState fit(const DataParallelPrior& prior, std::vector<StepObservation> measured,
                std::vector<DataParallelFlag> flags) {
  const bool disagree = std::ranges::any_of(
      measured, [](const StepObservation& m) { return m.disagreement > kDisagreement; });
  if (disagree) flags.push_back(DataParallelFlag::kContradictory);
  if (measured.size() < 3) flags.push_back(DataParallelFlag::kFewConfigurations);
  if (std::ranges::all_of(measured, [&](const StepObservation& m) {
        return m.at.local_batch == measured.front().at.local_batch;
      })) {
    flags.push_back(DataParallelFlag::kOneBatch);
  }
  LatentState state = Fitter(prior, std::move(measured)).run();
  for (const DataParallelFlag flag : flags) {
    if (std::ranges::find(state.flags, flag) == state.flags.end()) state.flags.push_back(flag);
  }
  std::ranges::sort(state.flags);
  return state;
}

}  // namespace rubato::data_parallel

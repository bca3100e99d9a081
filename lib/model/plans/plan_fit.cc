// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan_fit.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Cholesky>
#include <eigen3/Eigen/Core>
#include <limits>
#include <tuple>

#include "lib/model/numeric/bounded_fit.h"
#include "lib/model/plans/plan_belief.h"

namespace rubato {
namespace {

constexpr double kMinSeconds = 1e-6;  ///< minimum seconds of a step
constexpr double kMaxSeconds = 2.6e6;
constexpr std::size_t kMaxSettings = 256;
// Standard deviations of the logarithm of a measured step, and of a part, around the formula.
// Profilers divide a step into parts differently.
constexpr double kStepNoise = 0.05;
constexpr double kPartNoise = 0.1;
// From here on a sample counts as wrong, not as informative (Huber).
constexpr double kOutlier = 3;
constexpr double kFarApart = 1.5;
constexpr double kPoor = 0.25;
constexpr int kPublishedTerms = 7;
// Maximum length of the rest of a step, in forward passes. The backward pass takes at most ten (the
// published bound). A profiler that shows more has timed one of several micro-batches.
constexpr double kMaxTail = 15;
constexpr double kDifference = 1e-4;

using Vector = Eigen::Matrix<double, kPlanTerms, 1>;
using Matrix = Eigen::Matrix<double, kPlanTerms, kPlanTerms>;

bool can_be(const PlanSample& s) {
  const auto time = [](double seconds) {
    return std::isfinite(seconds) && seconds >= 0 && seconds <= kMaxSeconds;
  };
  const PlanConfiguration& at = s.configuration;
  const ExecutionPlan& plan = s.plan;
  if (!time(s.step_seconds) || s.step_seconds < kMinSeconds || !time(s.forward_seconds) ||
      !time(s.tail_seconds) || !time(s.optimiser_seconds)) {
    return false;
  }
  if (at.gpus < 1 || at.gpus > kMaxGpus || at.nodes < 1 || at.nodes > at.gpus ||
      at.cores_per_gpu < 1 || s.batch < 1 || s.batch > kMaxBatch || s.reports < 1) {
    return false;
  }
  if (plan.data < 1 || plan.tensor < 1 || plan.pipeline < 1 || plan.steps < 1) return false;
  if (plan.split() && plan.zero != Zero::kNone) return false;
  return plan.data <= kMaxGpus && plan.tensor <= kMaxGpus && plan.pipeline <= kMaxGpus &&
         plan.gpus() == at.gpus;
}

auto setting_of(const PlanSample& s) { return std::tie(s.plan, s.configuration, s.batch); }

// The median of times above 0, weighted by reports: one wrong value in three has no effect.
double median(std::span<const PlanSample> group, double PlanSample::*time) {
  std::vector<std::pair<double, std::int64_t>> values;
  std::int64_t sum = 0;
  for (const PlanSample& s : group) {
    if (!(s.*time > 0)) continue;
    values.emplace_back(s.*time, s.reports);
    sum += s.reports;
  }
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  std::int64_t below = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    below += values[i].second;
    if (2 * below == sum) return std::sqrt(values[i].first * values[i + 1].first);
    if (2 * below > sum) return values[i].first;
  }
  return values.back().first;
}

void drop_parts(PlanSample& s) {
  s.forward_seconds = 0;
  s.tail_seconds = 0;
  s.optimiser_seconds = 0;
}

PlanSample merged(std::span<const PlanSample> group, PlanFitFlags& flags) {
  PlanSample out = group.front();
  out.reports = 0;
  double least = out.step_seconds;
  double most = out.step_seconds;
  for (const PlanSample& s : group) {
    // Caps the count: a billion reports say no more than a million.
    out.reports = std::min<std::int64_t>(out.reports + s.reports, 1'000'000'000);
    least = std::min(least, s.step_seconds);
    most = std::max(most, s.step_seconds);
  }
  if (most > kFarApart * least) flags.contradictory = true;
  out.step_seconds = median(group, &PlanSample::step_seconds);
  out.forward_seconds = median(group, &PlanSample::forward_seconds);
  out.tail_seconds = median(group, &PlanSample::tail_seconds);
  out.optimiser_seconds = median(group, &PlanSample::optimiser_seconds);
  if (out.tail_seconds > kMaxTail * out.forward_seconds) drop_parts(out);
  return out;
}

void merge(std::vector<PlanSample> samples, PlanFit& fit) {
  const auto bad = std::remove_if(samples.begin(), samples.end(),
                                  [](const PlanSample& s) { return !can_be(s); });
  fit.left_out = samples.end() - bad;
  fit.flags.rejected = fit.left_out > 0;
  samples.erase(bad, samples.end());
  for (PlanSample& s : samples) s.reports = std::min<std::int64_t>(s.reports, 1'000'000'000);
  std::sort(samples.begin(), samples.end());
  fit.used = static_cast<std::int64_t>(samples.size());
  for (auto from = samples.begin(); from != samples.end();) {
    const auto to = std::find_if(from, samples.end(), [&](const PlanSample& s) {
      return setting_of(s) != setting_of(*from);
    });
    fit.merged.push_back(merged({from, to}, fit.flags));
    from = to;
  }
  if (fit.merged.size() > kMaxSettings) {
    std::stable_sort(
        fit.merged.begin(), fit.merged.end(),
        [](const PlanSample& a, const PlanSample& b) { return a.reports > b.reports; });
    fit.merged.resize(kMaxSettings);
    std::sort(fit.merged.begin(), fit.merged.end());
  }
  fit.settings = static_cast<int>(fit.merged.size());
  fit.flags.nothing = fit.merged.empty();
  fit.flags.few = fit.settings < kPublishedTerms;
}

// Several shares per GPU, but equal times.
bool all_alike(const std::vector<PlanSample>& settings) {
  if (settings.size() < 3) return false;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  double min_work = std::numeric_limits<double>::infinity();
  double max_work = 0;
  for (const PlanSample& s : settings) {
    least = std::min(least, s.step_seconds);
    most = std::max(most, s.step_seconds);
    const double work = static_cast<double>(s.batch) / s.configuration.gpus;
    min_work = std::min(min_work, work);
    max_work = std::max(max_work, work);
  }
  return most <= 1.005 * least && max_work >= 2 * min_work;
}

double loss(double error, double noise) {
  const double z = error / noise;
  // Pseudo-Huber loss: quadratic near 0, linear far out.
  return kOutlier * kOutlier * (std::sqrt(1 + z * z / (kOutlier * kOutlier)) - 1);
}

double misfit(const PlanTerms& terms, const PlanEnvironment& environment, const ModelShape& shape,
              const std::vector<PlanSample>& settings) {
  double sum = 0;
  const auto add = [&](double predicted_ms, double measured_seconds, double noise) {
    if (!(measured_seconds > 0)) return;
    sum += loss(std::log(std::max(predicted_ms, 1e-9) / (measured_seconds * 1e3)), noise);
  };
  for (const PlanSample& s : settings) {
    const StepParts parts =
        step_parts(terms, environment, s.plan, s.configuration, {shape, s.batch});
    add(parts.step, s.step_seconds, kStepNoise);
    add(parts.forward, s.forward_seconds, kPartNoise);
    add(parts.tail, s.tail_seconds, kPartNoise);
    add(parts.optimiser, s.optimiser_seconds, kPartNoise);
  }
  return sum;
}

Vector vector_of(const PlanTerms& terms) { return Vector(terms.data()); }

// The terms that settings depend on; others keep their previous value.
std::vector<std::size_t> spoken_of(const PlanBeliefs& beliefs, const PlanEnvironment& environment,
                                   const ModelShape& shape,
                                   const std::vector<PlanSample>& settings) {
  Vector sum = Vector::Zero();
  for (const PlanSample& s : settings) {
    sum += vector_of(sensitivity(centres(beliefs), environment, s.plan, s.configuration,
                                 {shape, s.batch}))
               .cwiseAbs();
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < kPlanTerms; ++i) {
    if (sum[static_cast<Eigen::Index>(i)] > 0) out.push_back(i);
  }
  return out;
}

void search(PlanFit& fit, const PlanBeliefs& beliefs, const PlanEnvironment& environment,
            const ModelShape& shape) {
  fit.terms = centres(beliefs);
  const std::vector<std::size_t> free = spoken_of(beliefs, environment, shape, fit.merged);
  if (free.empty()) return;
  std::vector<FitParameter> parameters;
  for (const std::size_t i : free) {
    const TermBelief& b = beliefs.at(i);
    parameters.push_back({b.centre, b.low, b.high, true});
  }
  PlanTerms terms = fit.terms;
  const auto configuration = [&](std::span<const double> values) {
    for (std::size_t i = 0; i < free.size(); ++i) terms.at(free[i]) = values[i];
  };
  const auto objective = [&](std::span<const double> values) {
    configuration(values);
    double sum = misfit(terms, environment, shape, fit.merged);
    for (std::size_t i = 0; i < free.size(); ++i) {
      const TermBelief& b = beliefs.at(free[i]);
      const double z = std::log(values[i] / b.centre) / b.stddev;
      sum += z * z / 2;
    }
    return sum;
  };
  configuration(minimise(parameters, objective).values);
  fit.terms = terms;
}

void judge(PlanFit& fit, const PlanBeliefs& beliefs, const PlanEnvironment& environment,
           const ModelShape& shape) {
  double squares = 0;
  Matrix precision = Matrix::Zero();
  for (const PlanSample& s : fit.merged) {
    const PlanWork work{shape, s.batch};
    const double predicted = step_parts(fit.terms, environment, s.plan, s.configuration, work).step;
    const double error = std::log(std::max(predicted, 1e-9) / (s.step_seconds * 1e3));
    squares += error * error;
    const Vector by = vector_of(sensitivity(fit.terms, environment, s.plan, s.configuration, work));
    precision += by * by.transpose();
  }
  if (!fit.merged.empty()) fit.rmsle = std::sqrt(squares / fit.settings);
  fit.flags.poor = fit.rmsle > kPoor;
  const double noise = step_noise(fit);
  precision /= noise * noise;
  for (std::size_t i = 0; i < kPlanTerms; ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    precision(at, at) += 1 / (beliefs.at(i).stddev * beliefs.at(i).stddev);
  }
  const Matrix covariance = precision.llt().solve(Matrix::Identity());
  Eigen::Map<Eigen::Matrix<double, kPlanTerms, kPlanTerms, Eigen::RowMajor>>(
      fit.covariance.data()) = (covariance + covariance.transpose()) / 2;
}

}  // namespace

PlanFit fit_plans(const ModelShape& shape, const std::vector<PlanSample>& samples,
                  const PlanEnvironment& environment, PlanBelief belief) {
  PlanFit fit;
  merge(samples, fit);
  fit.flags.constant = all_alike(fit.merged);
  const PlanBeliefs beliefs = beliefs_of(shape, fit.merged, belief, environment.known);
  search(fit, beliefs, environment, shape);
  judge(fit, beliefs, environment, shape);
  return fit;
}

PlanTerms sensitivity(const PlanTerms& terms, const PlanEnvironment& environment,
                      const ExecutionPlan& plan, const PlanConfiguration& configuration,
                      const PlanWork& work) {
  PlanTerms out{};
  PlanTerms moved = terms;
  for (std::size_t i = 0; i < kPlanTerms; ++i) {
    moved.at(i) = terms.at(i) * std::exp(kDifference);
    const double above = step_parts(moved, environment, plan, configuration, work).step;
    moved.at(i) = terms.at(i) * std::exp(-kDifference);
    const double below = step_parts(moved, environment, plan, configuration, work).step;
    moved.at(i) = terms.at(i);
    if (above > 0 && below > 0) out.at(i) = std::log(above / below) / (2 * kDifference);
  }
  return out;
}

double step_noise(const PlanFit& fit) { return std::max(kStepNoise, fit.rmsle); }

double stddev_of(const PlanFit& fit, const PlanEnvironment& environment, const ExecutionPlan& plan,
                 const PlanConfiguration& configuration, const PlanWork& work) {
  const Vector by = vector_of(sensitivity(fit.terms, environment, plan, configuration, work));
  const Eigen::Map<const Eigen::Matrix<double, kPlanTerms, kPlanTerms, Eigen::RowMajor>> covariance(
      fit.covariance.data());
  const double noise = step_noise(fit);
  return std::sqrt(std::max(0.0, by.dot(covariance * by)) + noise * noise);
}

}  // namespace rubato

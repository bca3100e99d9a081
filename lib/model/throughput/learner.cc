// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lib/model/throughput/fit_hyperparameters.h"
#include "lib/model/throughput/unproven.h"

namespace rubato {
namespace {

constexpr double kSomeChange = 0.01;
constexpr double kDecidingChange = 0.05;
constexpr double kMoreSamples = 1.5;
constexpr double kOtherNoise = 1.5;

// A fit counts as worse if its mean error is larger by this many standard errors, and by more than
// this in ln throughput.
constexpr double kStandardErrors = 2;
constexpr double kWorse = 0.01;
constexpr std::size_t kMinCompared = 8;

bool far_apart(double a, double b) { return a > kOtherNoise * b || b > kOtherNoise * a; }

/// Differences of two errors of the same reports.
struct Differences {
  double sum = 0;
  double squares = 0;
  std::size_t count = 0;
  double before = 0;  ///< sum of the errors
  double after = 0;

  void add(double old_error, double new_error) {
    const double d = new_error - old_error;
    sum += d;
    squares += d * d;
    ++count;
    before += old_error;
    after += new_error;
  }
  [[nodiscard]] bool worse() const {
    if (count < kMinCompared) return false;
    const auto n = static_cast<double>(count);
    const double mean = sum / n;
    const double variance = std::max(squares / n - mean * mean, 0.0);
    return mean > kWorse && mean > kStandardErrors * std::sqrt(variance / n);
  }
  [[nodiscard]] RefusedFits refused() const {
    const auto n = static_cast<double>(count);
    return {.fits = 1,
            .kept = before / n,
            .refused = after / n,
            .reports = static_cast<std::int64_t>(count)};
  }
};

}  // namespace

void ForecastErrors::record(const ProfileName& profile, const std::string& gpu_type,
                            double forecast, double throughput) {
  const double error = std::min(std::abs(forecast / throughput - 1), kMaxError);
  if (!std::isfinite(error)) return;
  ErrorMean& row = rows_[{profile, gpu_type}];
  ++row.reports;
  row.sum += error;
  row.mean += (error - row.mean) / std::min(static_cast<double>(row.reports), kMemory);
}

ThroughputChange throughput_change(const std::vector<ThroughputObservation>& before,
                                   const std::vector<ThroughputObservation>& now) {
  if (before.size() != now.size()) return ThroughputChange::kDecides;
  ThroughputChange change = ThroughputChange::kSame;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const ThroughputObservation& a = before[i];
    const ThroughputObservation& b = now[i];
    if (!same_configuration(a, b) || (a.throughput > 0) != (b.throughput > 0))
      return ThroughputChange::kDecides;
    const double moved = a.throughput > 0 ? std::abs(std::log(b.throughput / a.throughput)) : 0;
    if (moved >= kDecidingChange) return ThroughputChange::kDecides;
    const auto fewer = static_cast<double>(std::min(a.samples, b.samples));
    const auto more = static_cast<double>(std::max(a.samples, b.samples));
    if (moved >= kSomeChange || more >= kMoreSamples * fewer) change = ThroughputChange::kSome;
  }
  return change;
}

void Learner::take(const ThroughputReport& report) {
  const ReportFilter::Verdict verdict = judge_.judge(report);
  ++uses_[verdict.use];
  for (const ThroughputReport& usable : verdict.use_now) {
    if (model_ != nullptr) {
      const Forecast forecast = model_->predict(usable.profile, usable.configuration);
      if (seen_) seen_(usable, forecast);
      if (forecast.known_profile)
        errors_.record(usable.profile, usable.configuration.gpu_type, forecast.throughput(),
                       usable.throughput);
    }
    learn(usable);
  }
  record_early(report, verdict.use);
}

void Learner::remember(const ThroughputReport& report) {
  const ReportFilter::Verdict verdict = judge_.judge(report);
  for (const ThroughputReport& usable : verdict.use_now) learn(usable);
  record_early(report, verdict.use);
}

void Learner::record_early(const ThroughputReport& report, ReportUse use) {
  if (use == ReportUse::kWarmUp) ++reports_;
  if (use == ReportUse::kWarmUp) history_.add_early(report);
  if (use == ReportUse::kYes) history_.settled(report);
}

void Learner::learn(const ThroughputReport& usable) {
  history_.add(usable);
  ++reports_;
  recent_.push_back(usable);
  if (recent_.size() > kRecent) recent_.pop_front();
}

void Learner::go_on_from(const Learner& earlier) {
  prior_ = earlier.prior_;
  imported_ = earlier.imported_;
  curves_ = earlier.curves_;
  model_ = earlier.model_;
  fitted_ = earlier.fitted_;
  fitted_noise_ = earlier.fitted_noise_;
  fitted_early_ = earlier.fitted_early_;
  errors_ = earlier.errors_;
  uses_ = earlier.uses_;
  refused_ = earlier.refused_;
  refusals_ = earlier.refusals_;
  prior_observations_ = earlier.prior_observations_;
  other_prior_ = earlier.other_prior_;
  other_curves_ = earlier.other_curves_;
}

void Learner::set_curves(std::vector<CurvePoint> curves) {
  if (curves == curves_) return;
  curves_ = std::move(curves);
  other_curves_ = true;
}

std::vector<ThroughputObservation> Learner::observations() const {
  return observations(history_.scatter());
}

std::vector<ThroughputObservation> Learner::observations(const ReportScatter& scatter) const {
  std::vector<ThroughputObservation> observations =
      history_.observations(with_noise(rules_.prior, scatter).report, early(scatter));
  if (imported_.empty()) return observations;
  std::set<std::pair<ProfileName, std::string>> measured;
  for (const ThroughputObservation& observation : observations)
    measured.emplace(observation.profile, observation.gpu_type);
  for (const ThroughputObservation& observation : imported_)
    if (!measured.contains({observation.profile, observation.gpu_type}))
      observations.push_back(observation);
  std::sort(observations.begin(), observations.end(), before);
  return observations;
}

// A claim that is not believed is no evidence against a fit that does not follow it.
bool Learner::is_bounded(const ThroughputReport& report) const {
  return std::any_of(bounded_.begin(), bounded_.end(), [&](const ThroughputObservation& one) {
    return one.profile == report.profile && one.gpu_type == report.configuration.gpu_type &&
           one.gpus == report.configuration.gpus;
  });
}

// Profiles and types where a fit predicts recent reports worse than the current one.
std::map<ForecastErrors::Key, RefusedFits> Learner::worse(const ThroughputModel& candidate) const {
  if (model_ == nullptr) return {};
  Differences all;
  std::map<ForecastErrors::Key, Differences> groups;
  for (const ThroughputReport& report : recent_) {
    if (is_bounded(report)) continue;
    const Forecast old_one = model_->predict(report.profile, report.configuration);
    const Forecast new_one = candidate.predict(report.profile, report.configuration);
    if (!old_one.known_profile || !new_one.known_profile) continue;
    const double throughput = std::log(report.throughput);
    const double before = std::abs(old_one.log_throughput - throughput);
    const double after = std::abs(new_one.log_throughput - throughput);
    all.add(before, after);
    groups[{report.profile, report.configuration.gpu_type}].add(before, after);
  }
  if (!all.worse()) return {};
  std::map<ForecastErrors::Key, RefusedFits> found;
  for (const auto& [key, group] : groups)
    if (group.worse()) found.emplace(key, group.refused());
  if (found.empty()) found.emplace(ForecastErrors::Key{}, all.refused());
  return found;
}

void Learner::refuse(const std::map<ForecastErrors::Key, RefusedFits>& why, News& news) {
  news.kept_old = true;
  ++refused_;
  for (const auto& [key, last] : why) {
    RefusedFits& all = refusals_[key];
    const std::int64_t fits = all.fits + 1;
    all = last;
    all.fits = fits;
    const std::string where =
        key.first.job_type.empty() ? "" : fmt::format("{} on {}: ", key.first.job_type, key.second);
    news.said.push_back(fmt::format("{}error {:.1f} % instead of {:.1f} % over {} reports", where,
                                    100 * std::expm1(last.refused), 100 * std::expm1(last.kept),
                                    last.reports));
  }
}

// Repeated reports of one configuration show the noise of a single report.
ThroughputPrior Learner::with_noise(ThroughputPrior prior, const ReportScatter& scatter) const {
  if (!rules_.fits_hyperparameters || scatter.within_count <= 0) return prior;
  const ThroughputPrior seen = with_scatter(rules_.prior, scatter);
  prior.report = seen.report;
  prior.report_floor = seen.report_floor;
  return prior;
}

double Learner::early(const ReportScatter& scatter) const {
  return rules_.fits_hyperparameters ? early_stddev(scatter) : ThroughputHistory::kEarlyStddev;
}

Learner::News Learner::refit(const TypeSpeeds& speeds, bool always) {
  News news;
  const ReportScatter scatter = history_.scatter();
  std::vector<ThroughputObservation> now = observations(scatter);
  bounded_.clear();
  if (rules_.bounds_unproven) {
    const std::vector<ThroughputObservation> claimed = now;
    bound_unproven(now, speeds);
    for (std::size_t i = 0; i < now.size(); ++i)
      if (now[i].throughput < claimed[i].throughput) bounded_.push_back(now[i]);
  }
  news.change = throughput_change(fitted_, now);
  const bool other_speeds = model_ != nullptr && model_->speeds().all() != speeds.all();
  if (other_speeds) news.change = ThroughputChange::kDecides;
  const ThroughputPrior prior = with_noise(prior_, scatter);
  const double early_now = early(scatter);
  const bool other_noise = !fitted_.empty() && (far_apart(prior.report, fitted_noise_) ||
                                                far_apart(early_now, fitted_early_));
  if (news.change == ThroughputChange::kSame && (other_prior_ || other_curves_ || other_noise))
    news.change = ThroughputChange::kSome;
  if (news.change == ThroughputChange::kSame && !always) return news;
  other_prior_ = false;
  other_curves_ = false;
  if (now.empty() && curves_.empty()) {
    fitted_.clear();
    model_ = nullptr;
    return news;
  }
  auto candidate = std::make_shared<const ThroughputModel>(speeds, now, prior, curves_);
  fitted_ = std::move(now);
  fitted_noise_ = prior.report;
  fitted_early_ = early_now;
  // If configured speeds changed, accept the fit: the admin decided.
  const auto why = other_speeds ? std::map<ForecastErrors::Key, RefusedFits>() : worse(*candidate);
  if (why.empty())
    model_ = std::move(candidate);
  else
    refuse(why, news);
  return news;
}

Learner::News Learner::refit_when_due(const TypeSpeeds& speeds, double share) {
  const auto enough = (1 + share) * static_cast<double>(reports_at_fit_);
  const bool new_configuration = history_.configurations() != configurations_at_fit_;
  if (!new_configuration && static_cast<double>(reports_) < enough) return {};
  reports_at_fit_ = reports_;
  configurations_at_fit_ = history_.configurations();
  return refit(speeds);
}

bool Learner::fit_hyperparameters_when_due(const TypeSpeeds& speeds) {
  if (!rules_.fits_hyperparameters || fitted_.size() < kMinObservationsForPrior ||
      static_cast<double>(fitted_.size()) <
          kMoreSamples * static_cast<double>(prior_observations_)) {
    return false;
  }
  prior_observations_ = fitted_.size();
  const ReportScatter scatter = history_.scatter();
  const bool noise_known = scatter.within_count > 0;
  const ThroughputPrior fitted =
      fit_hyperparameters(speeds, fitted_, with_noise(rules_.prior, scatter), noise_known);
  if (fitted == prior_) return false;
  prior_ = fitted;
  other_prior_ = true;
  return true;
}

}  // namespace rubato

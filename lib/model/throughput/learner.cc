// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/learner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lib/model/throughput/learn_prior.h"

namespace rubato {
namespace {

constexpr double kSomeChange = 0.01;
constexpr double kDecidingChange = 0.05;
constexpr double kMoreSamples = 1.5;
constexpr double kOtherNoise = 1.5;

// A fit counts as worse if its errors are larger in the mean by so many standard errors, and by
// more than this, of ln rate.
constexpr double kStandardErrors = 2;
constexpr double kWorse = 0.01;
constexpr std::size_t kLeastCompared = 8;

bool far_apart(double a, double b) { return a > kOtherNoise * b || b > kOtherNoise * a; }

/// Differences of two errors of the same report.
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
    if (count < kLeastCompared) return false;
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

void ForecastErrors::note(const ProfileName& profile, const std::string& gpu_type, double forecast,
                          double rate) {
  const double error = std::min(std::abs(forecast / rate - 1), kMost);
  if (!std::isfinite(error)) return;
  Row& row = rows_[{profile, gpu_type}];
  ++row.reports;
  row.sum += error;
  row.mean += (error - row.mean) / std::min(static_cast<double>(row.reports), kMemory);
}

RateChange rate_change(const std::vector<RateCell>& before, const std::vector<RateCell>& now) {
  if (before.size() != now.size()) return RateChange::kDecides;
  RateChange change = RateChange::kSame;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const RateCell& a = before[i];
    const RateCell& b = now[i];
    if (!same_place(a, b) || (a.rate > 0) != (b.rate > 0)) return RateChange::kDecides;
    const double moved = a.rate > 0 ? std::abs(std::log(b.rate / a.rate)) : 0;
    if (moved >= kDecidingChange) return RateChange::kDecides;
    const auto fewer = static_cast<double>(std::min(a.samples, b.samples));
    const auto more = static_cast<double>(std::max(a.samples, b.samples));
    if (moved >= kSomeChange || more >= kMoreSamples * fewer) change = RateChange::kSome;
  }
  return change;
}

void Learner::take(const MeasuredRate& report) {
  const UseJudge::Verdict verdict = judge_.judge(report);
  ++uses_[verdict.use];
  for (const MeasuredRate& usable : verdict.use_now) {
    if (model_ != nullptr) {
      const Forecast forecast = model_->predict(usable.profile, usable.place);
      if (seen_) seen_(usable, forecast);
      if (forecast.known_profile)
        errors_.note(usable.profile, usable.place.gpu_type, forecast.rate(), usable.rate);
    }
    learn(usable);
  }
  note_early(report, verdict.use);
}

void Learner::remember(const MeasuredRate& report) {
  const UseJudge::Verdict verdict = judge_.judge(report);
  for (const MeasuredRate& usable : verdict.use_now) learn(usable);
  note_early(report, verdict.use);
}

void Learner::note_early(const MeasuredRate& report, Use use) {
  if (use == Use::kWarmUp) history_.add_early(report);
  if (use == Use::kYes) history_.settled(report);
}

void Learner::learn(const MeasuredRate& usable) {
  history_.add(usable);
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
  prior_cells_ = earlier.prior_cells_;
  other_prior_ = earlier.other_prior_;
  other_curves_ = earlier.other_curves_;
}

void Learner::set_curves(std::vector<CurvePoint> curves) {
  if (curves == curves_) return;
  curves_ = std::move(curves);
  other_curves_ = true;
}

std::vector<RateCell> Learner::cells() const { return cells(history_.scatter()); }

std::vector<RateCell> Learner::cells(const ReportScatter& scatter) const {
  std::vector<RateCell> cells =
      history_.cells(with_noise(rules_.prior, scatter).report, early(scatter));
  if (imported_.empty()) return cells;
  std::set<std::pair<ProfileName, std::string>> measured;
  for (const RateCell& cell : cells) measured.emplace(cell.profile, cell.gpu_type);
  for (const RateCell& cell : imported_)
    if (!measured.contains({cell.profile, cell.gpu_type})) cells.push_back(cell);
  std::sort(cells.begin(), cells.end(), before);
  return cells;
}

// Where a fit foresees recent reports worse than the present one; nothing if it does not.
std::map<ForecastErrors::Key, RefusedFits> Learner::worse(const ThroughputModel& candidate) const {
  if (model_ == nullptr) return {};
  Differences all;
  std::map<ForecastErrors::Key, Differences> groups;
  for (const MeasuredRate& report : recent_) {
    const Forecast old_one = model_->predict(report.profile, report.place);
    const Forecast new_one = candidate.predict(report.profile, report.place);
    if (!old_one.known_profile || !new_one.known_profile) continue;
    const double rate = std::log(report.rate);
    const double before = std::abs(old_one.log_rate - rate);
    const double after = std::abs(new_one.log_rate - rate);
    all.add(before, after);
    groups[{report.profile, report.place.gpu_type}].add(before, after);
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

// Reports of one place, again and again, show how far one can be trusted.
ThroughputPrior Learner::with_noise(ThroughputPrior prior, const ReportScatter& scatter) const {
  if (!rules_.learns_prior || scatter.within_count <= 0) return prior;
  const ThroughputPrior seen = with_scatter(rules_.prior, scatter);
  prior.report = seen.report;
  prior.report_floor = seen.report_floor;
  return prior;
}

double Learner::early(const ReportScatter& scatter) const {
  return rules_.learns_prior ? early_spread(scatter) : RateHistory::kEarlySpread;
}

Learner::News Learner::refit(const TypeSpeeds& speeds, bool always) {
  News news;
  const ReportScatter scatter = history_.scatter();
  std::vector<RateCell> now = cells(scatter);
  news.change = rate_change(fitted_, now);
  const bool other_speeds = model_ != nullptr && model_->speeds().all() != speeds.all();
  if (other_speeds) news.change = RateChange::kDecides;
  const ThroughputPrior prior = with_noise(prior_, scatter);
  const double early_now = early(scatter);
  const bool other_noise = !fitted_.empty() && (far_apart(prior.report, fitted_noise_) ||
                                                far_apart(early_now, fitted_early_));
  if (news.change == RateChange::kSame && (other_prior_ || other_curves_ || other_noise))
    news.change = RateChange::kSome;
  if (news.change == RateChange::kSame && !always) return news;
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
  // Other speeds are the admin's word.
  const auto why = other_speeds ? std::map<ForecastErrors::Key, RefusedFits>() : worse(*candidate);
  if (why.empty())
    model_ = std::move(candidate);
  else
    refuse(why, news);
  return news;
}

bool Learner::learn_prior_sometimes(const TypeSpeeds& speeds) {
  if (!rules_.learns_prior || fitted_.size() < kLeastCellsForPrior ||
      static_cast<double>(fitted_.size()) < kMoreSamples * static_cast<double>(prior_cells_)) {
    return false;
  }
  prior_cells_ = fitted_.size();
  const ReportScatter scatter = history_.scatter();
  const bool noise_known = scatter.within_count > 0;
  const ThroughputPrior learnt =
      learn_prior(speeds, fitted_, with_noise(rules_.prior, scatter), noise_known);
  if (learnt == prior_) return false;
  prior_ = learnt;
  other_prior_ = true;
  return true;
}

}  // namespace rubato

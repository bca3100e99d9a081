// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/predictability.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lib/base/statistics.h"
#include "lib/model/progress/convergence.h"

namespace rubato {
namespace {

// Times are whole seconds, so a throughput over a shorter time is imprecise.
constexpr double kMinAge = 5;
constexpr double kMaxStep = 60;
constexpr double kStepShare = 0.005;  // minimum step between forecasts, as a share of the remaining
                                      // time
constexpr double kSureSpan = 30;      // seconds after which only wall time counts
constexpr double kMinScale = 10;      // seconds: minimum remaining time that errors are relative to
constexpr double kSpread = 1.645;     // of a normal: 90 % interval
constexpr double kMinStddev = 0.05;
constexpr double kUsualStddev = 0.5;  // of a forecast, before any was scored
constexpr double kMaxStddev = 2;
constexpr double kMad = 1.4826;      // standard deviation of a normal over its median absolute
                                     // deviation
constexpr double kMaxSeconds = 1e9;  // seconds
constexpr double kNewest = 0.3;      // weight of a new job in the history of its type

// Work in samples; for a job that counts steps, each that is left is a batch.
void set_total(ProgressHistory& progress_history, const ProgressReport& report,
               const std::optional<Work>& work) {
  progress_history.total = progress_history.total_low = progress_history.total_high = 0;
  if (!work) return;
  switch (work->unit) {
    case WorkUnit::kSamples:
      progress_history.total = static_cast<double>(work->count);
      break;
    case WorkUnit::kSteps: {
      const auto batch = static_cast<double>(std::max<std::int64_t>(report.batch, 0));
      const auto count = static_cast<double>(work->count);
      progress_history.total = report.steps > 0 ? static_cast<double>(report.samples) +
                                                      std::max(count - report.steps, 0.0) * batch
                                                : count * batch;
      break;
    }
    case WorkUnit::kTargetLoss: {
      if (report.loss)
        (void)add_loss(progress_history.losses, static_cast<double>(report.samples), *report.loss);
      const LossForecast told = fit_loss(progress_history.losses, work->target_loss).target;
      progress_history.total = told.samples;
      progress_history.total_low = told.low;
      progress_history.total_high = told.high;
      return;
    }
  }
  progress_history.total = std::clamp(progress_history.total, 0.0, static_cast<double>(kMaxWork));
  progress_history.total_low = progress_history.total_high = progress_history.total;
}

// Samples per second; 0 if there is no progress.
double speed_of(const ProgressHistory& progress_history, const ProgressReport& report) {
  const double said = std::isfinite(report.throughput) ? std::max(report.throughput, 0.0) : 0;
  if (progress_history.points.empty()) return said;
  const ProgressForecast& first = progress_history.points.front();
  const auto span = static_cast<double>(report.time - first.time);
  if (span < kMinAge) return said;
  const double done = static_cast<double>(report.samples) - static_cast<double>(first.samples);
  const double measured = std::max(done, 0.0) / span;
  const double share = std::min(span / kSureSpan, 1.0);
  if (!(said > 0) || !(measured > 0)) return measured;
  return std::exp(share * std::log(measured) + (1 - share) * std::log(said));
}

// The true remaining time at `point`, estimated from the current report.
double hindsight(const ProgressForecast& point, const ProgressHistory& progress_history,
                 const ProgressReport& report) {
  const auto age = static_cast<double>(report.time - point.time);
  const auto done = static_cast<double>(report.samples) - static_cast<double>(point.samples);
  const double work = progress_history.total - static_cast<double>(point.samples);
  if (work <= 0) return age;  // it should have ended, but has not
  if (done <= 0) return kMaxSeconds;
  return std::clamp(age * work / done, 0.0, kMaxSeconds);
}

struct Judgement {
  std::vector<double> errors;  ///< relative, at most 1
  std::vector<double> logs;    ///< |ln(forecast / hindsight)|
};

Judgement judge(const ProgressHistory& progress_history, const ProgressReport& report) {
  Judgement judgement;
  for (const ProgressForecast& point : progress_history.points) {
    const auto age = static_cast<double>(report.time - point.time);
    if (point.left < 0 || age < kMinAge || progress_history.total <= 0) continue;
    const double truth = hindsight(point, progress_history, report);
    const double off = std::abs(point.left - truth) / std::max(truth, kMinScale);
    judgement.errors.push_back(std::min(off, 1.0));
    judgement.logs.push_back(
        std::abs(std::log(std::max(point.left, kMinScale) / std::max(truth, kMinScale))));
  }
  return judgement;
}

void set_class(ProgressHistory& progress_history, const Judgement& judgement,
               const PredictabilityRules& rules) {
  if (progress_history.total <= 0) {
    progress_history.due = progress_history.predictable = false;
    return;
  }
  if (static_cast<int>(judgement.errors.size()) < rules.min_scored) return;
  progress_history.scored = static_cast<int>(judgement.errors.size());
  progress_history.quality = 1 - upper_median(judgement.errors);
  if (progress_history.quality >= rules.promote) progress_history.due = true;
  if (progress_history.quality < rules.demote)
    progress_history.due = progress_history.predictable = false;
}

void set_left(ProgressHistory& progress_history, const ProgressReport& report,
              const Judgement& judgement) {
  progress_history.left = progress_history.left_low = progress_history.left_high = -1;
  if (progress_history.total <= 0) return;
  const double speed = speed_of(progress_history, report);
  if (!(speed > 0)) return;
  const auto done = static_cast<double>(report.samples);
  const auto seconds = [&](double total) {
    return std::clamp((total - done) / speed, 0.0, kMaxSeconds);
  };
  double stddev = kUsualStddev;
  if (static_cast<int>(judgement.logs.size()) >= 2)
    stddev = std::clamp(kMad * upper_median(judgement.logs), kMinStddev, kMaxStddev);
  progress_history.left = seconds(progress_history.total);
  progress_history.left_low = seconds(progress_history.total_low) * std::exp(-kSpread * stddev);
  progress_history.left_high =
      std::min(seconds(progress_history.total_high) * std::exp(kSpread * stddev), kMaxSeconds);
}

void keep_point(ProgressHistory& progress_history, const ProgressReport& report,
                const PredictabilityRules& rules) {
  const double step = std::clamp(kStepShare * progress_history.left, kMinAge, kMaxStep);
  if (!progress_history.points.empty() &&
      static_cast<double>(report.time - progress_history.points.back().time) < step)
    return;
  progress_history.points.push_back({report.time, report.samples, progress_history.left});
  // One more than are scored: the last one is too recent.
  const auto most = static_cast<std::size_t>(std::max(rules.window, 1)) + 1;
  if (progress_history.points.size() > most)
    progress_history.points.erase(progress_history.points.begin());
}

}  // namespace

void follow(ProgressHistory& progress_history, const ProgressReport& report,
            const std::optional<Work>& work, const PredictabilityRules& rules) {
  const bool same_run = progress_history.restarts == report.restarts &&
                        progress_history.gpus == report.gpus &&
                        progress_history.start == report.start;
  if (!same_run) progress_history.points.clear();
  if (same_run && report.time < progress_history.updated) return;
  progress_history.restarts = report.restarts;
  progress_history.gpus = report.gpus;
  progress_history.start = report.start;
  progress_history.updated = report.time;
  set_total(progress_history, report, work);
  const Judgement judgement = judge(progress_history, report);
  set_class(progress_history, judgement, rules);
  set_left(progress_history, report, judgement);
  keep_point(progress_history, report, rules);
}

void promote_all(std::vector<ProgressHistory>& progress_histories) {
  for (ProgressHistory& progress_history : progress_histories)
    progress_history.predictable = progress_history.due;
}

ProgressHistory& progress_history_for(std::vector<ProgressHistory>& progress_histories,
                                      const JobKey& job) {
  const auto before = [](const ProgressHistory& progress_history, const JobKey& key) {
    return progress_history.job < key;
  };
  auto at = std::lower_bound(progress_histories.begin(), progress_histories.end(), job, before);
  if (at != progress_histories.end() && at->job == job) return *at;
  ProgressHistory fresh;
  fresh.job = job;
  return *progress_histories.insert(at, fresh);
}

void ended(const ProgressHistory& progress_history, const std::string& account,
           const std::string& job_type, Seconds now, std::vector<TypePredictability>& types,
           const PredictabilityRules& rules) {
  if (job_type.empty() || progress_history.scored < rules.min_scored) return;
  const auto name = [](const TypePredictability& type) {
    return std::tie(type.account, type.job_type);
  };
  const std::tuple<const std::string&, const std::string&> wanted(account, job_type);
  auto at = std::lower_bound(
      types.begin(), types.end(), wanted,
      [&](const TypePredictability& type, const auto& key) { return name(type) < key; });
  if (at == types.end() || name(*at) != wanted) {
    if (types.size() >= kMaxTypeHistories) {
      types.erase(std::min_element(types.begin(), types.end(), [&](const auto& a, const auto& b) {
        return std::tuple(a.updated, name(a)) < std::tuple(b.updated, name(b));
      }));
      return ended(progress_history, account, job_type, now, types, rules);
    }
    TypePredictability fresh;
    fresh.account = account;
    fresh.job_type = job_type;
    fresh.quality = progress_history.quality;
    at = types.insert(at, std::move(fresh));
  }
  at->quality += kNewest * (progress_history.quality - at->quality);
  at->jobs = std::min(at->jobs + 1, 1 << 20);
  if (at->quality >= rules.promote) at->predictable = true;
  if (at->quality < rules.demote) at->predictable = false;
  at->updated = now;
}

}  // namespace rubato

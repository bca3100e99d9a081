// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/forecast.h"

#include <algorithm>
#include <cmath>

#include "lib/model/progress/done_work.h"
#include "lib/model/progress/predictability.h"

namespace rubato {
namespace {

constexpr Seconds kMinRun = 60;
constexpr int kJudged = PredictabilityRules().min_scored;
constexpr double kBad = PredictabilityRules().demote;
// Noise is rounded to this step of its logarithm, so that small changes ask no new forecasts.
constexpr double kNoiseStep = 0.1;

}  // namespace

ProfileName profile_of(const Job& job, const Config& config) {
  if (!job.hints || job.hints->job_type.empty()) return {};
  const JobTypeConfig* line = config.job_type(job.hints->job_type);
  const bool shared = line != nullptr && line->shared;
  return {shared ? "" : job.account, job.hints->job_type};
}

std::optional<double> work_left(const Snapshot& snapshot, const Job& job) {
  if (!job.hints || !job.hints->work) return std::nullopt;
  const Work& work = *job.hints->work;
  const Progress* progress = progress_of(snapshot.memory, job.key);
  const ProgressHistory* history = progress_history_of(snapshot.memory, job.key);
  const bool forecast = history != nullptr && history->total > 0;
  std::optional<double> total;
  if (work.unit == WorkUnit::kSamples) total = static_cast<double>(work.count);
  if (work.unit == WorkUnit::kTargetLoss && forecast) total = history->total;
  if (work.unit == WorkUnit::kSteps) {
    if (progress != nullptr) {
      const std::optional<double> left = work_left(work, *progress);
      if (left) return std::max(*left, 1.0);
    }
    if (forecast)
      total = history->total;  // before it was requeued
    else if (job.hints->batch)
      total = static_cast<double>(work.count) * static_cast<double>(job.hints->batch->max);
  }
  if (!total) return std::nullopt;
  return std::max(*total - work_done(snapshot, job), 1.0);
}

double work_done(const Snapshot& snapshot, const Job& job) {
  if (const Progress* progress = progress_of(snapshot.memory, job.key)) return progress->done();
  const ProgressHistory* history = progress_history_of(snapshot.memory, job.key);
  if (history == nullptr || history->points.empty()) return 0;
  return static_cast<double>(history->points.back().samples);  // before it was requeued
}

std::optional<double> noise_ahead(const Snapshot& snapshot, const Job& job,
                                  const ProfileName& profile) {
  const Progress* progress = progress_of(snapshot.memory, job.key);
  WorkSpan span{.done = work_done(snapshot, job), .left = work_left(snapshot, job).value_or(0)};
  if (job.hints && job.hints->batch) span.reference = static_cast<double>(job.hints->batch->min);
  const std::optional<double> noise = lasting_noise(
      snapshot.memory.noises, profile, span, progress != nullptr ? progress->noise : std::nullopt);
  if (!noise || !(*noise > 0)) return noise;
  return std::exp(std::round(std::log(*noise) / kNoiseStep) * kNoiseStep);
}

Predictability predictability(const Snapshot& snapshot, const Job& job, const ProfileName& profile,
                              bool known_speed) {
  const ProgressHistory* progress_history = progress_history_of(snapshot.memory, job.key);
  if (progress_history != nullptr && progress_history->predictable) return {true, true};
  const bool scored = progress_history != nullptr && progress_history->scored >= kJudged;
  if (scored && !progress_history->due) return {false, true};
  const TypePredictability* type =
      type_predictability_of(snapshot.memory, profile.account, profile.job_type);
  return {known_speed && (type == nullptr || type->predictable), false};
}

double seconds_left(const Snapshot& snapshot, const Job& job, const ThroughputForecasts& forecasts,
                    Seconds now) {
  const auto limit = static_cast<double>(std::max<Seconds>(job.end_limit - now, 1));
  if (const auto exact = forecasts.seconds_left(job.key)) return std::clamp(*exact, 1.0, limit);
  const ProgressHistory* progress_history = progress_history_of(snapshot.memory, job.key);
  const auto usual = static_cast<double>(std::max(now - job.start, kMinRun));
  if (progress_history != nullptr && progress_history->start == job.start) {
    if (progress_history->scored >= kJudged && progress_history->quality < kBad)
      return std::min(usual, limit);
    const auto since = static_cast<double>(std::max<Seconds>(now - progress_history->updated, 0));
    if (progress_history->left >= 0) return std::clamp(progress_history->left - since, 1.0, limit);
  }
  const Progress* progress = progress_of(snapshot.memory, job.key);
  const std::optional<double> left = work_left(snapshot, job);
  if (progress != nullptr && left && progress->goodput() > 0) {
    const auto since = static_cast<double>(std::max<Seconds>(now - progress->time, 0));
    return std::clamp(*left / progress->goodput() - since, 1.0, limit);
  }
  return std::min(usual, limit);
}

}  // namespace rubato

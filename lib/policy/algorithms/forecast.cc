// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/forecast.h"

#include <algorithm>
#include <cmath>

#include "lib/model/progress/done_work.h"
#include "lib/model/progress/predictability.h"
#include "lib/model/progress/statements.h"

namespace rubato {
namespace {

constexpr Seconds kMinRun = 60;
constexpr int kJudged = PredictabilityRules().min_scored;
constexpr double kBad = PredictabilityRules().demote;
// Noise is rounded to this step of its logarithm, so that small changes ask no new forecasts.
constexpr double kNoiseStep = 0.1;

// The work that hints state as samples or steps, in efficient samples.
std::optional<double> stated_samples(const Snapshot& snapshot, const Job& job,
                                     const ProgressHistory* history) {
  const Work& work = *job.hints->work;
  const auto count = static_cast<double>(work.count);
  if (work.unit == WorkUnit::kSamples) return count;
  const Progress* const progress = progress_of(snapshot.memory, job.key);
  if (progress != nullptr && progress->batch > 0)
    return count * static_cast<double>(progress->batch);
  if (history != nullptr && history->total > 0) return history->total;  // before it was requeued
  if (!job.hints->batch) return std::nullopt;
  return count * static_cast<double>(job.hints->batch->max);
}

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
  const ProgressHistory* history = progress_history_of(snapshot.memory, job.key);
  if (work.unit == WorkUnit::kTargetLoss) {
    if (history == nullptr || !(history->total > 0)) return std::nullopt;
    return std::max(history->total - work_done(snapshot, job), 1.0);
  }
  const std::optional<double> total = stated_samples(snapshot, job, history);
  if (!total) return std::nullopt;
  const Progress* progress = progress_of(snapshot.memory, job.key);
  const bool in_steps = work.unit == WorkUnit::kSteps && progress != nullptr && progress->batch > 0;
  const double done = in_steps ? steps_done(*progress) * static_cast<double>(progress->batch)
                               : work_done(snapshot, job);
  const double factor = statement_factor(snapshot.memory.statements, job.account).value_or(1);
  if (done > kStatementSlack * factor * *total) return std::nullopt;
  return std::max(factor * *total - done, 1.0);
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

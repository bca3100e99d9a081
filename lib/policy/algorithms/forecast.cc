// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/forecast.h"

#include <algorithm>

#include "lib/model/progress/predictability.h"

namespace rubato {
namespace {

constexpr Seconds kMinRun = 60;
constexpr int kJudged = PredictabilityRules().min_scored;
constexpr double kBad = PredictabilityRules().demote;

}  // namespace

ProfileName profile_of(const Job& job, const Config& config) {
  if (!job.hints || job.hints->job_type.empty()) return {};
  const JobTypeConfig* line = config.job_type(job.hints->job_type);
  const bool shared = line != nullptr && line->shared;
  return {shared ? "" : job.account, job.hints->job_type};
}

std::optional<double> samples_left(const Snapshot& snapshot, const Job& job) {
  if (!job.hints || !job.hints->work) return std::nullopt;
  const Work& work = *job.hints->work;
  const Progress* progress = progress_of(snapshot.memory, job.key);
  auto samples = static_cast<double>(work.count);
  const ProgressHistory* progress_history = progress_history_of(snapshot.memory, job.key);
  if (work.unit == WorkUnit::kTargetLoss) {
    if (progress_history == nullptr || progress_history->total <= 0) return std::nullopt;
    samples = progress_history->total;
  }
  if (work.unit == WorkUnit::kSteps) {
    std::int64_t batch = progress != nullptr ? progress->batch : 0;
    if (batch <= 0 && job.hints->batch) batch = job.hints->batch->max;
    if (batch <= 0) return std::nullopt;
    samples *= static_cast<double>(batch);
  }
  if (progress != nullptr) {
    samples -= static_cast<double>(progress->samples);
  } else if (progress_history != nullptr && !progress_history->points.empty()) {
    samples -=
        static_cast<double>(progress_history->points.back().samples);  // before it was requeued
  }
  return std::max(samples, 1.0);
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
  const std::optional<double> left = samples_left(snapshot, job);
  if (progress != nullptr && left && progress->throughput > 0) {
    const auto since = static_cast<double>(std::max<Seconds>(now - progress->time, 0));
    return std::clamp(*left / progress->throughput - since, 1.0, limit);
  }
  return std::min(usual, limit);
}

}  // namespace rubato

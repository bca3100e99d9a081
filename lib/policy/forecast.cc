// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/forecast.h"

#include <algorithm>

namespace rubato {
namespace {

constexpr Seconds kLeastRun = 60;

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
  if (work.unit == WorkUnit::kTargetLoss) return std::nullopt;
  if (work.unit == WorkUnit::kSteps) {
    std::int64_t batch = progress != nullptr ? progress->batch : 0;
    if (batch <= 0 && job.hints->batch) batch = job.hints->batch->max;
    if (batch <= 0) return std::nullopt;
    samples *= static_cast<double>(batch);
  }
  if (progress != nullptr) samples -= static_cast<double>(progress->samples);
  return std::max(samples, 1.0);
}

double seconds_left(const Snapshot& snapshot, const Job& job, Seconds now) {
  const auto limit = static_cast<double>(std::max<Seconds>(job.end_limit - now, 1));
  const Progress* progress = progress_of(snapshot.memory, job.key);
  const std::optional<double> left = samples_left(snapshot, job);
  if (progress != nullptr && left && progress->rate > 0) {
    const auto since = static_cast<double>(std::max<Seconds>(now - progress->time, 0));
    return std::clamp(*left / progress->rate - since, 1.0, limit);
  }
  return std::min(static_cast<double>(std::max(now - job.start, kLeastRun)), limit);
}

}  // namespace rubato

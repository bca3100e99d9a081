// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/forecast.h"

#include <algorithm>

#include "lib/model/progress/predictability.h"

namespace rubato {
namespace {

constexpr Seconds kLeastRun = 60;
constexpr int kJudged = PredictabilityRules().least_judged;
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
  const Course* course = course_of(snapshot.memory, job.key);
  if (work.unit == WorkUnit::kTargetLoss) {
    if (course == nullptr || course->total <= 0) return std::nullopt;
    samples = course->total;
  }
  if (work.unit == WorkUnit::kSteps) {
    std::int64_t batch = progress != nullptr ? progress->batch : 0;
    if (batch <= 0 && job.hints->batch) batch = job.hints->batch->max;
    if (batch <= 0) return std::nullopt;
    samples *= static_cast<double>(batch);
  }
  if (progress != nullptr) {
    samples -= static_cast<double>(progress->samples);
  } else if (course != nullptr && !course->points.empty()) {
    samples -= static_cast<double>(course->points.back().samples);  // before it was requeued
  }
  return std::max(samples, 1.0);
}

Predictability predictability(const Snapshot& snapshot, const Job& job, const ProfileName& profile,
                              bool known_speed) {
  const Course* course = course_of(snapshot.memory, job.key);
  if (course != nullptr && course->predictable) return {true, true};
  const bool judged = course != nullptr && course->judged >= kJudged;
  if (judged && !course->due) return {false, true};
  const TypeCourse* type = type_course_of(snapshot.memory, profile.account, profile.job_type);
  return {known_speed && (type == nullptr || type->predictable), false};
}

double seconds_left(const Snapshot& snapshot, const Job& job, Seconds now) {
  const auto limit = static_cast<double>(std::max<Seconds>(job.end_limit - now, 1));
  const Course* course = course_of(snapshot.memory, job.key);
  const auto usual = static_cast<double>(std::max(now - job.start, kLeastRun));
  if (course != nullptr && course->start == job.start) {
    if (course->judged >= kJudged && course->quality < kBad) return std::min(usual, limit);
    const auto since = static_cast<double>(std::max<Seconds>(now - course->updated, 0));
    if (course->left >= 0) return std::clamp(course->left - since, 1.0, limit);
  }
  const Progress* progress = progress_of(snapshot.memory, job.key);
  const std::optional<double> left = samples_left(snapshot, job);
  if (progress != nullptr && left && progress->rate > 0) {
    const auto since = static_cast<double>(std::max<Seconds>(now - progress->time, 0));
    return std::clamp(*left / progress->rate - since, 1.0, limit);
  }
  return std::min(usual, limit);
}

}  // namespace rubato

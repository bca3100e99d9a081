// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/job_segment.h"

#include <cmath>
#include <cstdlib>
#include <set>

namespace rubato {
namespace {

constexpr Seconds kSameStart = 60;

/// Why it waits, in one word: what Slurm itself says against it, else the verdict.
std::string wait_word(const Job& job, const Explanation* told) {
  if (job.block != Block::kNone) return to_string(job.block);
  return told != nullptr ? to_string(told->verdict) : "";
}

/// Samples that are left, below 0 when that cannot be said.
double samples_left(const Work& work, const Progress& progress) {
  const auto done = static_cast<double>(progress.samples);
  const auto count = static_cast<double>(work.count);
  switch (work.unit) {
    case WorkUnit::kSamples:
      return std::max(0.0, count - done);
    case WorkUnit::kSteps:
      if (progress.batch < 1) return -1;
      return std::max(0.0, count * static_cast<double>(progress.batch) - done);
    case WorkUnit::kTargetLoss:
      break;
  }
  return -1;
}

void tell_progress(const Job& job, const Progress& progress, Segment& segment) {
  segment.samples = progress.samples;
  if (job.state != JobState::kRunning) return;
  segment.rate = progress.rate;
  if (!job.hints || !job.hints->work || !(progress.rate > 0)) return;
  const double left = samples_left(*job.hints->work, progress) / progress.rate;
  if (left >= 0 && left < static_cast<double>(kForever))
    segment.remaining = static_cast<Seconds>(std::ceil(left));
}

void tell_course(const Job& job, const Course& course, Segment& segment) {
  if (job.state != JobState::kRunning || course.left < 0 || course.start != job.start) return;
  segment.remaining = static_cast<Seconds>(std::ceil(course.left));
  segment.left_low = static_cast<Seconds>(std::floor(course.left_low));
  segment.left_high = static_cast<Seconds>(std::ceil(course.left_high));
}

/// Whether the round counts on its forecasts; of a job without GPUs, whether it could.
std::string class_word(const Job& job, const Service* service, const Course* course) {
  if (!job.hints || !job.hints->work) return "";
  if (service != nullptr) return service->predictable ? "P" : "U";
  if (course != nullptr) return course->predictable ? "P" : "U";
  return "";
}

}  // namespace

HeldGpus held_gpus(const std::vector<NodeShare>& allocation) {
  HeldGpus held;
  std::set<std::string> types;
  for (const NodeShare& share : allocation)
    for (const GpuCount& group : share.gpus) {
      held.gpus += group.count;
      if (!group.type.empty()) types.insert(group.type);
    }
  for (const std::string& type : types) held.type += (held.type.empty() ? "" : "+") + type;
  return held;
}

Segment segment_of(const Job& job, const Explanation* told, const Progress* progress,
                   const Service* service, const Course* course) {
  Segment segment;
  if (service != nullptr) segment.level = service->level;
  if (job.hints) {
    segment.job_type = job.hints->job_type;
    segment.sizes = job.hints->sizes;
  }
  if (job.state == JobState::kRunning) {
    const HeldGpus held = held_gpus(job.allocation);
    segment.gpus = held.gpus;
    segment.gpu_type = held.type;
  } else {
    segment.gpus = job.request.gpus_on(job.request.min_nodes);
    segment.gpu_type =
        told != nullptr && !told->gpu_type.empty() ? told->gpu_type : job.request.gpu_type;
    if (told != nullptr) segment.start = told->start_earliest;
    segment.wait = wait_word(job, told);
  }
  if (progress != nullptr) tell_progress(job, *progress, segment);
  if (course != nullptr) tell_course(job, *course, segment);
  segment.predictable = class_word(job, service, course);
  return segment;
}

bool differs(const Segment& shown, const Segment& now) {
  Segment same = shown;
  const bool both = shown.start != 0 && now.start != 0;
  if (both && std::llabs(shown.start - now.start) < kSameStart) same.start = now.start;
  return !(same == now);
}

}  // namespace rubato

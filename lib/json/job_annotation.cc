// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/job_annotation.h"

#include <cmath>
#include <cstdlib>
#include <set>

#include "lib/model/progress/done_work.h"

namespace rubato {
namespace {

constexpr Seconds kSameStart = 60;

/// Why it waits, in one word: what Slurm itself says against it, else the verdict.
std::string wait_word(const Job& job, const Explanation* told) {
  if (job.block != Block::kNone) return to_string(job.block);
  return told != nullptr ? to_string(told->verdict) : "";
}

void tell_progress(const Job& job, const Progress& progress, JobAnnotation& annotation) {
  annotation.samples = progress.samples;
  if (job.state != JobState::kRunning) return;
  annotation.throughput = progress.throughput;
  if (!job.hints || !job.hints->work || !(progress.goodput() > 0)) return;
  const std::optional<double> left = work_left(*job.hints->work, progress);
  if (!left || *left / progress.goodput() >= static_cast<double>(kForever)) return;
  annotation.remaining = static_cast<Seconds>(std::ceil(*left / progress.goodput()));
  annotation.at = progress.time;
}

void report_progress(const Job& job, const ProgressHistory& progress_history,
                     JobAnnotation& annotation) {
  if (job.state != JobState::kRunning || progress_history.left < 0 ||
      progress_history.start != job.start)
    return;
  annotation.remaining = static_cast<Seconds>(std::ceil(progress_history.left));
  annotation.left_low = static_cast<Seconds>(std::floor(progress_history.left_low));
  annotation.left_high = static_cast<Seconds>(std::ceil(progress_history.left_high));
  annotation.at = progress_history.updated;
}

/// Whether the round counts on its forecasts; of a job without GPUs, whether it could.
std::string class_word(const Job& job, const Service* service,
                       const ProgressHistory* progress_history) {
  if (!job.hints || !job.hints->work) return "";
  if (service != nullptr) return service->predictable ? "P" : "U";
  if (progress_history != nullptr) return progress_history->predictable ? "P" : "U";
  return "";
}

}  // namespace

HeldGpus held_gpus(const std::vector<NodeShare>& allocation) {
  HeldGpus held;
  std::set<std::string> types;
  for (const NodeShare& share : allocation)
    for (const GpuCount& group : share.gpus) {
      held.gpus += group.count;
      held.groups.push_back(group);
      if (!group.type.empty()) types.insert(group.type);
    }
  for (const std::string& type : types) held.type += (held.type.empty() ? "" : "+") + type;
  return held;
}

JobAnnotation annotation_of(const Job& job, const Explanation* told, const Progress* progress,
                            const Service* service, const ProgressHistory* progress_history) {
  JobAnnotation annotation;
  if (service != nullptr) annotation.level = service->level;
  if (job.hints) {
    annotation.job_type = job.hints->job_type;
    annotation.sizes = job.hints->sizes;
  }
  if (job.state == JobState::kRunning) {
    const HeldGpus held = held_gpus(job.allocation);
    annotation.gpus = held.gpus;
    annotation.gpu_type = held.type;
  } else {
    annotation.gpus = job.request.gpus_on(job.request.min_nodes);
    annotation.gpu_type =
        told != nullptr && !told->gpu_type.empty() ? told->gpu_type : job.request.gpu_type;
    // The earliest start is the time of the round, as a rule: soon past, and never a promise.
    if (told != nullptr && told->start_latest < kForever) annotation.start = told->start_latest;
    annotation.wait = wait_word(job, told);
  }
  if (progress != nullptr) tell_progress(job, *progress, annotation);
  if (progress_history != nullptr) report_progress(job, *progress_history, annotation);
  annotation.predictable = class_word(job, service, progress_history);
  return annotation;
}

bool differs(const JobAnnotation& shown, const JobAnnotation& now) {
  JobAnnotation same = shown;
  const bool both = shown.start != 0 && now.start != 0;
  if (both && std::llabs(shown.start - now.start) < kSameStart) same.start = now.start;
  return !(same == now);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/plausibility.h"

#include <algorithm>

namespace rubato::store {

Plausibility::Kind Plausibility::kind_of(const Sample& sample) {
  const JobType& type = sample.type;
  return {type.shared, type.shared ? "" : type.account, type.name, sample.gpu_type, sample.gpus};
}

bool Plausibility::not_monotone(const Sample& sample) const {
  const auto found = last_.find(sample.job);
  if (found == last_.end()) return false;
  const Last& last = found->second;
  if (sample.time < last.time || sample.restarts < last.restarts) return true;
  return sample.restarts == last.restarts && sample.samples_done < last.samples_done;
}

bool Plausibility::against_wall_time(const Sample& sample) const {
  const auto found = last_.find(sample.job);
  const double ratio = bounds_.wall_time;
  if (found == last_.end() || found->second.restarts != sample.restarts) {
    // In the first report of a run, the set-up time explains fewer samples than the throughput
    // predicts. Later runs start with samples done before.
    if (sample.run_start <= 0 || sample.restarts > 0) return false;
    const double elapsed =
        static_cast<double>(std::max<Seconds>(0, sample.time - sample.run_start));
    return static_cast<double>(sample.samples_done) > (elapsed + 1) * sample.throughput * ratio;
  }
  const Last& last = found->second;
  const bool changed =
      last.kind != kind_of(sample) || last.plan != sample.plan || last.batch != sample.batch;
  const auto elapsed = static_cast<double>(sample.time - last.time);
  if (changed || elapsed <= 1) return false;  // two configurations, or too short
  // Times are whole seconds, and samples whole batches: allow one of each either way.
  const auto done = static_cast<double>(sample.samples_done - last.samples_done);
  const auto grain = static_cast<double>(sample.batch);
  const double most = (done + grain) / (elapsed - 1);
  const double least = std::max(0.0, done - grain) / (elapsed + 1);
  return sample.throughput > most * ratio || sample.throughput * ratio < least;
}

bool Plausibility::unlike_others(const Sample& sample, const History& history) const {
  std::vector<double> throughputs;
  for (const Measured& measured : history.jobs) {
    if (measured.job != sample.job) throughputs.push_back(measured.throughput);
  }
  if (throughputs.size() < bounds_.others_at_least) return false;
  // The lower median: one job that exaggerates first must not flag the next honest one.
  std::sort(throughputs.begin(), throughputs.end());
  const double median = throughputs[(throughputs.size() - 1) / 2];
  return sample.throughput > median * bounds_.others || sample.throughput * bounds_.others < median;
}

Flag Plausibility::judge(const Sample& sample) const {
  if (not_monotone(sample)) return Flag::kNotMonotone;
  if (against_wall_time(sample)) return Flag::kWallTime;
  // On CPUs, jobs of one kind differ by cores and tasks.
  if (sample.gpus == 0) return Flag::kNone;
  const auto found = kinds_.find(kind_of(sample));
  if (found == kinds_.end()) return Flag::kNone;
  const History& history = found->second;
  if (history.best > 0 && sample.throughput > history.best * bounds_.above_best)
    return Flag::kAboveBest;
  return unlike_others(sample, history) ? Flag::kUnlikeOthers : Flag::kNone;
}

void Plausibility::remember(const Sample& sample) {
  const Kind kind = kind_of(sample);
  last_[sample.job] = {sample.restarts, sample.time, sample.samples_done, kind,
                       sample.plan,     sample.batch};
  if (sample.flag != Flag::kNone) return;
  History& history = kinds_[kind];
  history.best = std::max(history.best, sample.throughput);
  std::vector<Measured>& jobs = history.jobs;
  std::erase_if(jobs, [&](const Measured& measured) { return measured.job == sample.job; });
  if (jobs.size() >= bounds_.jobs_kept) jobs.erase(jobs.begin());
  jobs.push_back({sample.job, sample.throughput});
}

}  // namespace rubato::store

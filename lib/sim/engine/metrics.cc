// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/base/statistics.h"

namespace rubato::sim {
namespace {

/// (sum x)^2 / (n sum x^2), Jain, Chiu and Hawe 1984.
double jain_index(const std::vector<double>& shares) {
  double sum = 0;
  double squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  if (!(squares > 0)) return std::numeric_limits<double>::quiet_NaN();
  return sum * sum / (static_cast<double>(shares.size()) * squares);
}

/// The members that are not counts of jobs.
constexpr double Metrics::*kReals[] = {
    &Metrics::avg_jct_s,       &Metrics::p50_jct_s,         &Metrics::p99_jct_s,
    &Metrics::ideal_avg_jct_s, &Metrics::ideal_finished_s,  &Metrics::makespan_s,
    &Metrics::gpu_utilisation, &Metrics::gpu_hours_per_job, &Metrics::restarts_per_job,
    &Metrics::round_ms_mean,   &Metrics::round_ms_p99,      &Metrics::jain};

}  // namespace

double RunMetrics::last_event() const {
  if (!stalled) return end;
  double last = last_end < kNever ? last_end : 0;
  for (const JobResult& job : jobs) last = std::max(last, job.arrival);
  return std::min(last, end);
}

Metrics measure(const RunMetrics& record, Window window, int gpus, double origin) {
  Metrics found;
  std::vector<double> jct;
  std::vector<double> ideal;
  std::vector<double> ideal_finished;
  std::vector<double> shares;
  double restarts = 0;
  double gpu_seconds = 0;
  const std::size_t last = std::min(window.last, record.jobs.size());
  for (std::size_t i = window.first; i < last; ++i) {
    const JobResult& job = record.jobs[i];
    ++found.jobs;
    restarts += job.restarts;
    gpu_seconds += job.gpu_seconds;
    if (job.ideal_s < kNever) ideal.push_back(job.ideal_s);
    if (!job.finished()) continue;
    ++found.finished;
    jct.push_back(job.jct());
    if (job.ideal_s < kNever) ideal_finished.push_back(job.ideal_s);
    if (job.ideal_s < kNever && job.jct() > 0) shares.push_back(job.ideal_s / job.jct());
  }
  found.avg_jct_s = mean(jct);
  found.p50_jct_s = percentile(jct, 0.5);
  found.p99_jct_s = percentile(jct, 0.99);
  found.ideal_avg_jct_s = mean(ideal);
  found.ideal_finished_s = mean(ideal_finished);
  found.makespan_s = record.end - origin;
  if (record.stalled) {
    // In a stalled run the clock only follows the policy's timers, so `end` is not usable.
    found.makespan_s = record.last_end < kNever ? record.last_end - origin
                                                : std::numeric_limits<double>::quiet_NaN();
  }
  const double capacity = gpus * found.makespan_s;
  found.gpu_utilisation = capacity > 0 ? record.busy_gpu_seconds / capacity : 0;
  const double count = std::max(1, found.jobs);
  found.gpu_hours_per_job = gpu_seconds / 3600 / count;
  found.restarts_per_job = restarts / count;
  found.round_ms_mean = record.round_ms.empty() ? 0 : mean(record.round_ms);
  found.round_ms_p99 = record.round_ms.empty() ? 0 : percentile(record.round_ms, 0.99);
  found.jain = jain_index(shares);
  return found;
}

Metrics mean_of(const std::vector<Metrics>& all) {
  const auto count = static_cast<double>(all.size());
  Metrics out;
  const auto mean_in = [&](auto member) {
    double sum = 0;
    for (const Metrics& one : all) sum += one.*member;
    return sum / count;
  };
  out.jobs = static_cast<int>(std::lround(mean_in(&Metrics::jobs)));
  out.finished = static_cast<int>(std::lround(mean_in(&Metrics::finished)));
  for (double Metrics::*member : kReals) out.*member = mean_in(member);
  return out;
}

Metrics spread_of(const std::vector<Metrics>& all) {
  const Metrics mean = mean_of(all);
  const auto degrees = static_cast<double>(all.size()) - 1;
  Metrics out;
  for (double Metrics::*member : kReals) {
    double squares = 0;
    for (const Metrics& one : all) squares += std::pow(one.*member - mean.*member, 2);
    out.*member =
        degrees > 0 ? std::sqrt(squares / degrees) : std::numeric_limits<double>::quiet_NaN();
  }
  return out;
}

}  // namespace rubato::sim

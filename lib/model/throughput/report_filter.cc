// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/report_filter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {

const char* to_string(ReportUse use) {
  switch (use) {
    case ReportUse::kYes:
      return "used";
    case ReportUse::kFlagged:
      return "flagged";
    case ReportUse::kNoThroughput:
      return "no-rate";
    case ReportUse::kOnCpus:
      return "on-cpus";
    case ReportUse::kMixed:
      return "mixed";
    case ReportUse::kResized:
      return "resized";
    case ReportUse::kWarmUp:
      return "warm-up";
  }
  return "";
}

ReportFilter::ReportedRun& ReportFilter::run_of(const ThroughputReport& report, bool& resized) {
  const auto [at, fresh] = runs_.try_emplace(report.job);
  ReportedRun& run = at->second;
  if (fresh || run.restarts != report.restarts) {
    run = {.restarts = report.restarts,
           .configuration = report.configuration,
           .began = report.run_start,
           .last = report.run_start,
           .waiting = {}};
  } else if (run.configuration != report.configuration) {
    resized = true;
    run = {.restarts = report.restarts,
           .configuration = report.configuration,
           .began = run.last,
           .last = run.last,
           .resized = true,
           .waiting = {}};
  }
  return run;
}

bool ReportFilter::agrees(const ReportedRun& run, double throughput) const {
  double least = throughput;
  double most = throughput;
  for (const ThroughputReport& one : run.waiting) {
    least = std::min(least, one.throughput);
    most = std::max(most, one.throughput);
  }
  return most <= least * rules_.settled;
}

ReportFilter::Verdict ReportFilter::judge(const ThroughputReport& report) {
  if (runs_.size() >= kMaxJobs && !runs_.contains(report.job)) forget_old();
  bool resized = false;
  ReportedRun& run = run_of(report, resized);
  const Seconds since = std::exchange(run.last, std::max(run.last, report.time));
  if (report.flagged) return {ReportUse::kFlagged, {}};
  if (!std::isfinite(report.throughput) || report.throughput <= 0)
    return {ReportUse::kNoThroughput, {}};
  if (report.configuration.gpus < 1) return {ReportUse::kOnCpus, {}};
  if (report.configuration.gpu_type.find('+') != std::string::npos) return {ReportUse::kMixed, {}};
  if (resized) return {ReportUse::kResized, {}};
  const bool warms_up = rules_.warm_up > 0;
  const bool counts = run.settled || run.began <= 0 || (!warms_up && !run.resized);
  if (counts) return {ReportUse::kYes, {report}};
  if (warms_up && since / 2 + report.time / 2 - run.began >= rules_.warm_up) {
    run.settled = true;
    run.waiting.clear();
    return {ReportUse::kYes, {report}};
  }
  if (!agrees(run, report.throughput)) run.waiting.clear();
  run.waiting.push_back(report);
  const int enough = warms_up ? std::max(rules_.settled_reports, 2) : 2;
  if (run.waiting.size() < static_cast<std::size_t>(enough))
    return {warms_up ? ReportUse::kWarmUp : ReportUse::kResized, {}};
  run.settled = true;
  return {ReportUse::kYes, std::exchange(run.waiting, {})};
}

void ReportFilter::forget_old() {
  std::vector<Seconds> times;
  times.reserve(runs_.size());
  for (const auto& [unused, run] : runs_) times.push_back(run.last);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(runs_, [&](const auto& one) { return one.second.last <= *middle; });
}

}  // namespace rubato

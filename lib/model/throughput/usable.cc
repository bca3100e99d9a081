// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/usable.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rubato {

const char* to_string(Use use) {
  switch (use) {
    case Use::kYes:
      return "used";
    case Use::kFlagged:
      return "flagged";
    case Use::kNoRate:
      return "no-rate";
    case Use::kOnCpus:
      return "on-cpus";
    case Use::kMixed:
      return "mixed";
    case Use::kResized:
      return "resized";
    case Use::kWarmUp:
      return "warm-up";
  }
  return "";
}

UseJudge::Run& UseJudge::run_of(const MeasuredRate& report, bool& resized) {
  const auto [at, fresh] = runs_.try_emplace(report.job);
  Run& run = at->second;
  if (fresh || run.restarts != report.restarts) {
    run = {.restarts = report.restarts,
           .place = report.place,
           .began = report.run_start,
           .last = report.run_start,
           .waiting = {}};
  } else if (run.place != report.place) {
    resized = true;
    run = {.restarts = report.restarts,
           .place = report.place,
           .began = run.last,
           .last = run.last,
           .waiting = {}};
  }
  return run;
}

bool UseJudge::agrees(const Run& run, double rate) const {
  double least = rate;
  double most = rate;
  for (const MeasuredRate& one : run.waiting) {
    least = std::min(least, one.rate);
    most = std::max(most, one.rate);
  }
  return most <= least * rules_.settled;
}

UseJudge::Verdict UseJudge::judge(const MeasuredRate& report) {
  if (runs_.size() >= kMostJobs && !runs_.contains(report.job)) forget_old();
  bool resized = false;
  Run& run = run_of(report, resized);
  const Seconds since = std::exchange(run.last, std::max(run.last, report.time));
  if (report.flagged) return {Use::kFlagged, {}};
  if (!std::isfinite(report.rate) || report.rate <= 0) return {Use::kNoRate, {}};
  if (report.place.gpus < 1) return {Use::kOnCpus, {}};
  if (report.place.gpu_type.find('+') != std::string::npos) return {Use::kMixed, {}};
  if (resized) return {Use::kResized, {}};
  if (rules_.warm_up <= 0 || run.settled || run.began <= 0) return {Use::kYes, {report}};
  if (since / 2 + report.time / 2 - run.began >= rules_.warm_up) {
    run.settled = true;
    run.waiting.clear();
    return {Use::kYes, {report}};
  }
  if (!agrees(run, report.rate)) run.waiting.clear();
  run.waiting.push_back(report);
  if (run.waiting.size() < static_cast<std::size_t>(std::max(rules_.settled_reports, 2)))
    return {Use::kWarmUp, {}};
  run.settled = true;
  return {Use::kYes, std::exchange(run.waiting, {})};
}

void UseJudge::forget_old() {
  std::vector<Seconds> times;
  times.reserve(runs_.size());
  for (const auto& [unused, run] : runs_) times.push_back(run.last);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  std::erase_if(runs_, [&](const auto& one) { return one.second.last <= *middle; });
}

}  // namespace rubato

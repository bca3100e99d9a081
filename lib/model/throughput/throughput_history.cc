// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/throughput_history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lib/base/statistics.h"

namespace rubato {
namespace {

constexpr double kFreedom = 4;
// Two runs that differ by more than this factor contradict each other.
constexpr double kContradiction = 3;
// Usual standard deviation (ln) between jobs of one configuration.
constexpr double kUsualStddev = 0.1;
constexpr int kIterations = 12;
// Maximum distance of a report from its run that counts in the scatter; larger ones are capped.
constexpr double kMaxStep = 0.7;
constexpr double kMinWeight = 1e-3;
// During warm-up, the last reports are closest to the settled throughput.
constexpr std::size_t kEarlyMemory = 2;
// Limits of the memory of warm-ups: runs, and reports per run.
constexpr std::size_t kMaxWarming = 1024;
constexpr std::size_t kMaxEarly = 8;
// About this many of the last distances between the two count.
constexpr double kEarlyEvidence = 256;

struct RunMedian {
  double log_throughput = 0;
  double weight = 0;
};

double doubt(double distance) {
  const double far = distance / kUsualStddev;
  return std::min(1.0, (kFreedom + 1) / (kFreedom + far * far));
}

/// The median of ln throughput by weight.
double weighted_median_of(const std::vector<RunMedian>& all) {
  std::vector<WeightedValue> values;
  values.reserve(all.size());
  for (const RunMedian& one : all) values.push_back({one.log_throughput, one.weight});
  return weighted_median(std::move(values));
}

/// Mean of ln throughput with its weight. Of two that contradict each other the slower one: a job
/// that is planned with it does not end later than forecast.
RunMedian together(const std::vector<RunMedian>& all) {
  RunMedian result;
  if (all.size() == 2 &&
      std::abs(all[0].log_throughput - all[1].log_throughput) > std::log(kContradiction))
    return all[0].log_throughput < all[1].log_throughput ? all[0] : all[1];
  result.log_throughput = all.size() > 2 ? weighted_median_of(all) : 0;
  for (int i = 0; i < kIterations; ++i) {
    double sum = 0;
    double weight = 0;
    for (const RunMedian& one : all) {
      // With only two reports, it is unknown which one is wrong.
      const double w =
          one.weight * (all.size() > 2 ? doubt(one.log_throughput - result.log_throughput) : 1);
      sum += w * one.log_throughput;
      weight += w;
    }
    result = {sum / weight, weight};
  }
  return result;
}

}  // namespace

ThroughputHistory::ConfigurationRuns& ThroughputHistory::configuration_of(
    const ThroughputReport& report) {
  newest_ = std::max(newest_, report.time);
  Key key{report.profile, report.configuration};
  const auto at = configurations_.find(key);
  if (at != configurations_.end()) return at->second;
  const auto reports = [](const ConfigurationRuns& configuration) {
    return configuration.reports + configuration.early_reports;
  };
  if (configurations_.size() >= kMaxConfigurations) {
    configurations_.erase(std::min_element(
        configurations_.begin(), configurations_.end(),
        [&](const auto& a, const auto& b) { return reports(a.second) < reports(b.second); }));
  }
  return configurations_.emplace(std::move(key), ConfigurationRuns{}).first->second;
}

void ThroughputHistory::add_to(std::vector<ReportedRun>& runs, const ThroughputReport& report,
                               std::size_t run_median) {
  const auto same = [&](const ReportedRun& run) {
    return run.job == report.job && run.restarts == report.restarts;
  };
  auto run = std::find_if(runs.rbegin(), runs.rend(), same);
  if (run == runs.rend()) {
    if (runs.size() >= kMaxRuns) runs.erase(runs.begin());
    runs.push_back({.job = report.job, .restarts = report.restarts, .latest = {}});
    run = runs.rbegin();
  }
  run->last = std::max(run->last, report.time);
  const double log_throughput = std::log(report.throughput);
  if (run->latest.size() >= run_median) run->latest.erase(run->latest.begin());
  run->latest.push_back(log_throughput);
  run->log_throughput = median(run->latest);
  const double n = std::min(static_cast<double>(++run->reports), kRunMemory);
  double step = log_throughput - run->mean;
  if (run->reports > 2) step = std::clamp(step, -kMaxStep, kMaxStep);
  run->mean += step / n;
  const double kept = static_cast<double>(run->reports) > kRunMemory ? 1 - 1 / n : 1;
  run->squares = kept * run->squares + step * step * (1 - 1 / n);
}

void ThroughputHistory::add(const ThroughputReport& report) {
  ConfigurationRuns& configuration = configuration_of(report);
  ++configuration.reports;
  configuration.early.clear();
  add_to(configuration.runs, report, kRunMedian);
}

void ThroughputHistory::add_early(const ThroughputReport& report) {
  ConfigurationRuns& configuration = configuration_of(report);
  ++configuration.early_reports;
  if (configuration.runs.empty()) add_to(configuration.early, report, kEarlyMemory);
  const std::pair<JobKey, int> key{report.job, report.restarts};
  if (warming_.size() >= kMaxWarming && !warming_.contains(key)) warming_.erase(warming_.begin());
  std::vector<double>& throughputs = warming_[key];
  if (throughputs.size() < kMaxEarly) throughputs.push_back(std::log(report.throughput));
}

void ThroughputHistory::settled(const ThroughputReport& report) {
  const auto run = warming_.find({report.job, report.restarts});
  if (run == warming_.end()) return;
  for (const double log_throughput : run->second) {
    const double distance = log_throughput - std::log(report.throughput);
    const double n = std::min(++early_count_, kEarlyEvidence);
    early_squares_ += (distance * distance - early_squares_) / n;
  }
  warming_.erase(run);
}

ThroughputObservation ThroughputHistory::observation_of(const Key& key,
                                                        const ConfigurationRuns& configuration,
                                                        double report, double early_stddev) const {
  const auto& [profile, where] = key;
  std::vector<RunMedian> all;
  const bool early = configuration.runs.empty();
  for (const ReportedRun& run : early ? configuration.early : configuration.runs) {
    const auto age = static_cast<double>(newest_ - run.last);
    const double kept = rules_.half_life > 0 ? std::exp2(-age / rules_.half_life) : 1;
    const auto reports =
        std::min(static_cast<double>(run.reports), static_cast<double>(kRunMedian));
    all.push_back({run.log_throughput, std::max(reports * kept, kMinWeight)});
  }
  std::set<JobId> jobs;
  for (const ReportedRun& run : early ? configuration.early : configuration.runs)
    jobs.insert(run.job.id);
  RunMedian found = together(all);
  const double unsure = report / early_stddev;
  if (early) found.weight = std::clamp(unsure * unsure, kMinWeight, found.weight);
  return {.profile = profile,
          .gpu_type = where.gpu_type,
          .gpus = where.gpus,
          .throughput = std::exp(found.log_throughput),
          .samples = early ? configuration.early_reports : configuration.reports,
          .nodes = where.nodes,
          .batch = where.batch,
          .plan = where.plan,
          .weight = found.weight,
          .jobs = static_cast<int>(jobs.size()),
          .profile_jobs = 0};
}

ReportScatter ThroughputHistory::scatter() const {
  std::vector<RunMedian> within;
  for (const auto& [unused, configuration] : configurations_) {
    for (const ReportedRun& run : configuration.runs) {
      const double freedom = std::min(static_cast<double>(run.reports), kRunMemory) - 1;
      if (freedom > 0) within.push_back({run.squares / freedom, freedom});
    }
  }
  ReportScatter found;
  if (within.empty()) return found;
  // Part of the distance between two reports is the scatter of the settled one. Warm-up reports
  // cannot be more certain than settled ones.
  found.early_count = std::min(early_count_, kEarlyEvidence);
  for (const RunMedian& one : within) found.within_count += one.weight;
  const double variance = weighted_median_of(within);
  found.within = std::sqrt(variance);
  found.early = std::sqrt(std::max(early_squares_ - variance, variance));
  double between = 0;
  for (const auto& [unused, configuration] : configurations_) {
    double count = 0;
    double mean = 0;
    for (const ReportedRun& run : configuration.runs) {
      const double step = run.log_throughput - mean;
      mean += step / ++count;
      between += step * (run.log_throughput - mean);
      between -= (1 - 1 / count) * variance / static_cast<double>(run.reports);
    }
    found.between_count += std::max(count - 1, 0.0);
  }
  if (found.between_count > 0)
    found.between = std::sqrt(std::max(between / found.between_count, 0.0));
  return found;
}

std::vector<ThroughputObservation> ThroughputHistory::observations(double report,
                                                                   double early) const {
  std::vector<ThroughputObservation> observations;
  observations.reserve(configurations_.size());
  std::map<ProfileName, std::set<JobId>> jobs;  // a requeued job is one
  for (const auto& [key, configuration] : configurations_) {
    observations.push_back(observation_of(key, configuration, report, early));
    std::set<JobId>& of_profile = jobs[key.first];
    for (const ReportedRun& run : configuration.runs) of_profile.insert(run.job.id);
    for (const ReportedRun& run : configuration.early) of_profile.insert(run.job.id);
  }
  for (ThroughputObservation& observation : observations)
    observation.profile_jobs = static_cast<int>(jobs[observation.profile].size());
  std::sort(observations.begin(), observations.end(), before);
  return observations;
}

}  // namespace rubato

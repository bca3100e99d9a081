// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/rate_history.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr double kFreedom = 4;
// How far jobs at one place lie apart when nothing is wrong, as ln.
constexpr double kUsualSpread = 0.1;
constexpr int kIterations = 12;
// A report that is farther from its run so far than this counts as so far in the scatter.
constexpr double kMostStep = 0.7;
constexpr double kLeastWeight = 1e-3;
// Of a job that warms up the last reports are the nearest to what it will be.
constexpr std::size_t kEarlyMemory = 2;
// What is kept to see where it settles: so many runs, of each so many reports.
constexpr std::size_t kMostWarming = 1024;
constexpr std::size_t kMostEarly = 8;
// Of distances between the two about so many of the last count.
constexpr double kEarlyEvidence = 256;

struct Witness {
  double log_rate = 0;
  double weight = 0;
};

double doubt(double distance) {
  const double far = distance / kUsualSpread;
  return std::min(1.0, (kFreedom + 1) / (kFreedom + far * far));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The value that half of the weight lies up to.
double median(std::vector<Witness> all) {
  std::sort(all.begin(), all.end(), [](const Witness& a, const Witness& b) {
    return std::pair(a.log_rate, a.weight) < std::pair(b.log_rate, b.weight);
  });
  double total = 0;
  for (const Witness& one : all) total += one.weight;
  double below = 0;
  for (const Witness& one : all) {
    below += one.weight;
    if (below >= total / 2) return one.log_rate;
  }
  return all.back().log_rate;
}

/// Mean of ln rate, and the weight that stands behind it.
Witness together(const std::vector<Witness>& all) {
  Witness result;
  result.log_rate = all.size() > 2 ? median(all) : 0;
  for (int i = 0; i < kIterations; ++i) {
    double sum = 0;
    double weight = 0;
    for (const Witness& one : all) {
      // Of two nobody can say which is wrong.
      const double w = one.weight * (all.size() > 2 ? doubt(one.log_rate - result.log_rate) : 1);
      sum += w * one.log_rate;
      weight += w;
    }
    result = {sum / weight, weight};
  }
  return result;
}

}  // namespace

RateHistory::Place& RateHistory::place_of(const MeasuredRate& report) {
  newest_ = std::max(newest_, report.time);
  Key key{report.profile, report.place};
  const auto at = places_.find(key);
  if (at != places_.end()) return at->second;
  const auto reports = [](const Place& place) { return place.reports + place.early_reports; };
  if (places_.size() >= kMostPlaces) {
    places_.erase(std::min_element(
        places_.begin(), places_.end(),
        [&](const auto& a, const auto& b) { return reports(a.second) < reports(b.second); }));
  }
  return places_.emplace(std::move(key), Place{}).first->second;
}

void RateHistory::add_to(std::vector<Run>& runs, const MeasuredRate& report, std::size_t witness) {
  const auto same = [&](const Run& run) {
    return run.job == report.job && run.restarts == report.restarts;
  };
  auto run = std::find_if(runs.rbegin(), runs.rend(), same);
  if (run == runs.rend()) {
    if (runs.size() >= kMostRuns) runs.erase(runs.begin());
    runs.push_back({.job = report.job, .restarts = report.restarts, .latest = {}});
    run = runs.rbegin();
  }
  run->last = std::max(run->last, report.time);
  const double log_rate = std::log(report.rate);
  if (run->latest.size() >= witness) run->latest.erase(run->latest.begin());
  run->latest.push_back(log_rate);
  run->log_rate = median(run->latest);
  const double n = std::min(static_cast<double>(++run->reports), kRunMemory);
  double step = log_rate - run->mean;
  if (run->reports > 2) step = std::clamp(step, -kMostStep, kMostStep);
  run->mean += step / n;
  const double kept = static_cast<double>(run->reports) > kRunMemory ? 1 - 1 / n : 1;
  run->squares = kept * run->squares + step * step * (1 - 1 / n);
}

void RateHistory::add(const MeasuredRate& report) {
  Place& place = place_of(report);
  ++place.reports;
  place.early.clear();
  add_to(place.runs, report, kWitness);
}

void RateHistory::add_early(const MeasuredRate& report) {
  Place& place = place_of(report);
  ++place.early_reports;
  if (place.runs.empty()) add_to(place.early, report, kEarlyMemory);
  const std::pair<JobKey, int> key{report.job, report.restarts};
  if (warming_.size() >= kMostWarming && !warming_.contains(key)) warming_.erase(warming_.begin());
  std::vector<double>& rates = warming_[key];
  if (rates.size() < kMostEarly) rates.push_back(std::log(report.rate));
}

void RateHistory::settled(const MeasuredRate& report) {
  const auto run = warming_.find({report.job, report.restarts});
  if (run == warming_.end()) return;
  for (const double log_rate : run->second) {
    const double distance = log_rate - std::log(report.rate);
    const double n = std::min(++early_count_, kEarlyEvidence);
    early_squares_ += (distance * distance - early_squares_) / n;
  }
  warming_.erase(run);
}

RateCell RateHistory::cell_of(const Key& key, const Place& place, double report,
                              double early_spread) const {
  const auto& [profile, where] = key;
  std::vector<Witness> all;
  const bool early = place.runs.empty();
  for (const Run& run : early ? place.early : place.runs) {
    const auto age = static_cast<double>(newest_ - run.last);
    const double kept = rules_.half_life > 0 ? std::exp2(-age / rules_.half_life) : 1;
    const auto reports = std::min(static_cast<double>(run.reports), static_cast<double>(kWitness));
    all.push_back({run.log_rate, std::max(reports * kept, kLeastWeight)});
  }
  Witness found = together(all);
  const double unsure = report / early_spread;
  if (early) found.weight = std::clamp(unsure * unsure, kLeastWeight, found.weight);
  return {.profile = profile,
          .gpu_type = where.gpu_type,
          .gpus = where.gpus,
          .rate = std::exp(found.log_rate),
          .samples = early ? place.early_reports : place.reports,
          .nodes = where.nodes,
          .batch = where.batch,
          .plan = where.plan,
          .weight = found.weight};
}

ReportScatter RateHistory::scatter() const {
  std::vector<Witness> within;
  for (const auto& [unused, place] : places_) {
    for (const Run& run : place.runs) {
      const double freedom = std::min(static_cast<double>(run.reports), kRunMemory) - 1;
      if (freedom > 0) within.push_back({run.squares / freedom, freedom});
    }
  }
  ReportScatter found;
  if (within.empty()) return found;
  // Of the distance between two reports a part is the scatter of the one that had settled; while a
  // job warms up nothing is surer than that.
  found.early_count = std::min(early_count_, kEarlyEvidence);
  for (const Witness& one : within) found.within_count += one.weight;
  const double variance = median(within);
  found.within = std::sqrt(variance);
  found.early = std::sqrt(std::max(early_squares_ - variance, variance));
  double between = 0;
  for (const auto& [unused, place] : places_) {
    double count = 0;
    double mean = 0;
    for (const Run& run : place.runs) {
      const double step = run.log_rate - mean;
      mean += step / ++count;
      between += step * (run.log_rate - mean);
      between -= (1 - 1 / count) * variance / static_cast<double>(run.reports);
    }
    found.between_count += std::max(count - 1, 0.0);
  }
  if (found.between_count > 0)
    found.between = std::sqrt(std::max(between / found.between_count, 0.0));
  return found;
}

std::vector<RateCell> RateHistory::cells(double report, double early) const {
  std::vector<RateCell> cells;
  cells.reserve(places_.size());
  for (const auto& [key, place] : places_) cells.push_back(cell_of(key, place, report, early));
  std::sort(cells.begin(), cells.end(), before);
  return cells;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/rate_history.h"

#include <algorithm>
#include <cmath>

namespace rubato {
namespace {

constexpr double kFreedom = 4;
// How far jobs at one place lie apart when nothing is wrong, as ln.
constexpr double kUsualSpread = 0.1;
constexpr int kIterations = 12;
// A report that is farther from its run so far than this is pulled in: a real change shows in the
// next ones as well.
constexpr double kMostStep = 0.7;
constexpr double kLeastWeight = 1e-3;

struct Witness {
  double log_rate = 0;
  double weight = 0;
};

double doubt(double distance) {
  const double far = distance / kUsualSpread;
  return std::min(1.0, (kFreedom + 1) / (kFreedom + far * far));
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

void RateHistory::add(const MeasuredRate& report) {
  newest_ = std::max(newest_, report.time);
  Key key{report.profile, report.place};
  auto at = places_.find(key);
  if (at == places_.end()) {
    if (places_.size() >= kMostPlaces) {
      places_.erase(std::min_element(
          places_.begin(), places_.end(),
          [](const auto& a, const auto& b) { return a.second.reports < b.second.reports; }));
    }
    at = places_.emplace(std::move(key), Place{}).first;
  }
  Place& place = at->second;
  ++place.reports;
  const auto same = [&](const Run& run) {
    return run.job == report.job && run.restarts == report.restarts;
  };
  auto run = std::find_if(place.runs.rbegin(), place.runs.rend(), same);
  if (run == place.runs.rend()) {
    if (place.runs.size() >= kMostRuns) place.runs.erase(place.runs.begin());
    place.runs.push_back({.job = report.job, .restarts = report.restarts});
    run = place.runs.rbegin();
  }
  run->last = std::max(run->last, report.time);
  const double log_rate = std::log(report.rate);
  const double n = std::min(static_cast<double>(++run->reports), kRunMemory);
  double step = log_rate - run->log_rate;
  if (run->reports > 2) step = std::clamp(step, -kMostStep, kMostStep);
  run->log_rate += step / n;
}

RateCell RateHistory::cell_of(const Key& key, const Place& place) const {
  const auto& [profile, where] = key;
  std::vector<Witness> all;
  for (const Run& run : place.runs) {
    const auto age = static_cast<double>(newest_ - run.last);
    const double kept = rules_.half_life > 0 ? std::exp2(-age / rules_.half_life) : 1;
    const double reports = std::min(static_cast<double>(run.reports), kWitness);
    all.push_back({run.log_rate, std::max(reports * kept, kLeastWeight)});
  }
  const Witness found = together(all);
  return {.profile = profile,
          .gpu_type = where.gpu_type,
          .gpus = where.gpus,
          .rate = std::exp(found.log_rate),
          .samples = place.reports,
          .nodes = where.nodes,
          .batch = where.batch,
          .plan = where.plan,
          .weight = found.weight};
}

std::vector<RateCell> RateHistory::cells() const {
  std::vector<RateCell> cells;
  cells.reserve(places_.size());
  for (const auto& [key, place] : places_) cells.push_back(cell_of(key, place));
  std::sort(cells.begin(), cells.end(), before);
  return cells;
}

}  // namespace rubato

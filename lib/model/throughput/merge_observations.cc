// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/merge_observations.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "lib/model/throughput/fit_inputs.h"

namespace rubato {
namespace {

using fit_inputs::measured_throughput;
using fit_inputs::reports_of;

// Neighbours on each side, in the order of configurations, that an observation may be merged with.
constexpr int kNeighbours = 8;
// Bounds of the weight of a merged observation, in reports.
constexpr double kMinReports = 1e-3;

bool same_group(const ThroughputObservation& a, const ThroughputObservation& b) {
  return a.profile == b.profile && a.gpu_type == b.gpu_type && a.plan == b.plan;
}

bool group_before(const ThroughputObservation& a, const ThroughputObservation& b) {
  return std::tie(a.profile, a.gpu_type, a.plan, a.gpus, a.batch, a.nodes) <
         std::tie(b.profile, b.gpu_type, b.plan, b.gpus, b.batch, b.nodes);
}

/// Two observations to merge. A version changes when its observation does.
struct Pair {
  double loss = 0;
  std::size_t first = 0;
  std::size_t second = 0;
  int first_version = 0;
  int second_version = 0;

  bool operator>(const Pair& other) const {
    return std::tie(loss, first, second) > std::tie(other.loss, other.first, other.second);
  }
};

/// The `most` with the most reports.
std::vector<ThroughputObservation> most_measured(std::vector<ThroughputObservation> observations,
                                                 std::size_t most) {
  std::stable_sort(observations.begin(), observations.end(),
                   [](const ThroughputObservation& a, const ThroughputObservation& b) {
                     return a.samples > b.samples;
                   });
  observations.resize(std::min(most, observations.size()));
  return observations;
}

class Merger {
 public:
  Merger(std::vector<ThroughputObservation> observations, const ThroughputPrior& prior)
      : all_(std::move(observations)), prior_(prior), weights_(kernel_weights(prior)) {
    std::sort(all_.begin(), all_.end(), group_before);
    std::vector<std::pair<ProfileName, JobConfiguration>> configurations;
    std::vector<double> reports;
    for (const ThroughputObservation& one : all_) {
      configurations.emplace_back(one.profile, one.configuration());
      reports.push_back(reports_of(one));
    }
    const KernelPoints points(configurations, reports);
    for (const ThroughputObservation& one : all_)
      at_.push_back(points.at(one.profile, one.configuration()));
    version_.resize(all_.size());
    alive_ = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i) offer_after(i);
  }

  /// Merges until at most `most` are left, or no pair is.
  std::size_t run(std::size_t most) {
    std::size_t merged = 0;
    while (alive_ > most && !pairs_.empty()) {
      const Pair pair = pairs_.top();
      pairs_.pop();
      if (version_[pair.first] != pair.first_version ||
          version_[pair.second] != pair.second_version) {
        continue;
      }
      merge(pair.first, pair.second);
      ++merged;
    }
    return merged;
  }

  std::vector<ThroughputObservation> left() {
    std::vector<ThroughputObservation> left;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (version_[i] >= 0) left.push_back(std::move(all_[i]));
    std::sort(left.begin(), left.end(), before);
    return left;
  }

 private:
  [[nodiscard]] double variance(std::size_t i) const {
    return noise(prior_, std::max(reports_of(all_[i]), kMinReports));
  }
  /// Prior variance of the difference of ln throughput.
  [[nodiscard]] double difference(std::size_t i, std::size_t j) const {
    const double between = kernel(weights_, at_[i], at_[i]) + kernel(weights_, at_[j], at_[j]) -
                           2 * kernel(weights_, at_[i], at_[j]);
    return std::max(between, 0.0);
  }

  void offer(std::size_t i, std::size_t j) {
    const double loss = difference(i, j) / (variance(i) + variance(j));
    pairs_.push({loss, i, j, version_[i], version_[j]});
  }
  [[nodiscard]] bool is_one(std::size_t i) const {
    return version_[i] >= 0 && measured_throughput(all_[i]);
  }

  /// Offers `i` with its neighbours behind it.
  void offer_after(std::size_t i) {
    if (!measured_throughput(all_[i])) return;
    int seen = 0;
    for (std::size_t j = i + 1;
         seen < kNeighbours && j < all_.size() && same_group(all_[i], all_[j]); ++j) {
      if (!is_one(j)) continue;
      offer(i, j);
      ++seen;
    }
  }
  void offer_before(std::size_t i) {
    int seen = 0;
    for (std::size_t j = i; seen < kNeighbours && j-- > 0 && same_group(all_[i], all_[j]);) {
      if (!is_one(j)) continue;
      offer(j, i);
      ++seen;
    }
  }

  void merge(std::size_t i, std::size_t j) {
    const bool first_stays = reports_of(all_[i]) >= reports_of(all_[j]);
    const std::size_t kept = first_stays ? i : j;
    const std::size_t gone = first_stays ? j : i;
    ThroughputObservation& into = all_[kept];
    const ThroughputObservation& from = all_[gone];
    const double here = 1 / variance(kept);
    const double there = 1 / (variance(gone) + difference(i, j));
    const double converted = std::log(from.throughput) + prior_log_throughput(prior_, at_[kept]) -
                             prior_log_throughput(prior_, at_[gone]);
    into.throughput =
        std::exp((here * std::log(into.throughput) + there * converted) / (here + there));
    into.weight = reports_for(1 / (here + there), reports_of(into), reports_of(from));
    into.samples += from.samples;
    into.jobs = std::max(into.jobs, from.jobs);
    into.profile_jobs = std::max(into.profile_jobs, from.profile_jobs);
    version_[gone] = -1;
    ++version_[kept];
    --alive_;
    offer_before(kept);
    offer_after(kept);
  }

  /// The number of reports with this variance; never less than `have`, nor more than both.
  [[nodiscard]] double reports_for(double variance, double have, double more) const {
    const double floor = prior_.report_floor * prior_.report_floor;
    if (!(variance > floor)) return have + more;
    return std::clamp(prior_.report * prior_.report / (variance - floor), have, have + more);
  }

  std::vector<ThroughputObservation> all_;  ///< sorted by group_before
  ThroughputPrior prior_;
  KernelTerms weights_;
  std::vector<KernelPoint> at_;
  std::vector<int> version_;  ///< -1: merged into another one
  std::size_t alive_ = 0;
  std::priority_queue<Pair, std::vector<Pair>, std::greater<>> pairs_;
};

}  // namespace

MergedObservations merge_to(std::vector<ThroughputObservation> observations, std::size_t most,
                            const ThroughputPrior& prior) {
  MergedObservations result;
  if (observations.size() <= most) {
    result.observations = std::move(observations);
    return result;
  }
  Merger merger(std::move(observations), prior);
  result.merged = merger.run(most);
  result.observations = merger.left();
  if (result.observations.size() <= most) return result;
  result.dropped = result.observations.size() - most;
  result.observations = most_measured(std::move(result.observations), most);
  std::sort(result.observations.begin(), result.observations.end(), before);
  return result;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/left_out_gavel.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/model/numeric/choose_rows.h"
#include "lib/model/throughput/fit_hyperparameters.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {
namespace {

using Observations = std::vector<ThroughputObservation>;

/// The measurements that fit, in an order that does not come from names.
Observations observations_of(const GavelData& data) {
  Observations all;
  for (const GavelObservation& one : data.observations) {
    if (!one.consolidated || one.steps <= 0) continue;
    ThroughputObservation made;
    made.profile.job_type = one.model.app;
    made.gpu_type = one.gpu_type;
    made.gpus = one.scale;
    made.throughput = one.throughput();
    made.samples = 1;
    made.batch = one.model.batch * one.scale;
    all.push_back(made);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.throughput, a.gpus, a.batch) < std::tie(b.throughput, b.gpus, b.batch);
  });
  return all;
}

/// The value of each candidate: the reduction of the variances of its profile.
std::optional<std::size_t> best_of(const ThroughputModel& model, const Observations& from,
                                   const std::vector<bool>& taken) {
  std::map<ProfileName, std::vector<std::size_t>> profiles;
  for (std::size_t i = 0; i < from.size(); ++i) profiles[from[i].profile].push_back(i);
  std::vector<double> gains(from.size());
  const double measured = noise(model.prior(), 1);
  for (const auto& [profile, own] : profiles) {
    std::vector<JobConfiguration> at;
    for (const std::size_t i : own) at.push_back(from[i].configuration());
    const auto covariance = model.covariance(profile, at);
    for (std::size_t i = 0; i < own.size(); ++i) {
      double sum = 0;
      for (const double one : covariance[i]) sum += one * one;
      gains[own[i]] = sum / (covariance[i][i] + measured);
    }
  }
  constexpr double kTie = 1e-6;  // rounding does not decide
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!taken[i] && (!best || gains[i] > gains[*best] * (1 + kTie))) best = i;
  return best;
}

/// Mean ln ratio of the throughputs on two types, in configurations that both have; 0 without any.
double log_ratio(const Observations& known, const std::string& type, const std::string& other) {
  double sum = 0;
  int count = 0;
  for (const ThroughputObservation& a : known) {
    if (a.gpu_type != type) continue;
    for (const ThroughputObservation& b : known) {
      if (b.gpu_type != other || a.profile != b.profile || a.gpus != b.gpus || a.batch != b.batch)
        continue;
      sum += std::log(a.throughput / b.throughput);
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

double local_log(const ThroughputObservation& one) {
  return one.batch > 0 ? std::log(static_cast<double>(one.batch) / one.gpus) : 0;
}

/// Another GPU type counts as far as a factor of e in GPUs or batch. nullopt if the model was not
/// measured.
std::optional<double> nearest(const Observations& known, const ThroughputObservation& at) {
  const ThroughputObservation* best = nullptr;
  double least = 0;
  for (const ThroughputObservation& one : known) {
    if (one.profile != at.profile) continue;
    const double type = one.gpu_type == at.gpu_type ? 0 : 1;
    const double distance = std::hypot(std::log(static_cast<double>(one.gpus) / at.gpus),
                                       local_log(one) - local_log(at), type);
    if (best != nullptr && distance >= least - 1e-12) continue;
    best = &one;
    least = distance;
  }
  if (best == nullptr) return std::nullopt;
  const double ratio =
      best->gpu_type == at.gpu_type ? 0 : log_ratio(known, at.gpu_type, best->gpu_type);
  return best->throughput * std::exp(ratio) * at.gpus / best->gpus;
}

LeftOut left_out(const Observations& others, const Observations& own, std::size_t most) {
  const ThroughputPrior prior = fit_hyperparameters(TypeSpeeds(), others);
  Observations known = others;
  std::vector<bool> taken(own.size());
  LeftOut result;
  for (; result.chosen < most; ++result.chosen) {
    const ThroughputModel model(TypeSpeeds(), known, prior);
    const auto next = best_of(model, own, taken);
    if (!next) break;
    taken[*next] = true;
    known.push_back(own[*next]);
  }
  const ThroughputModel model(TypeSpeeds(), known, prior);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (taken[i]) continue;
    const auto near = nearest(known, own[i]);
    if (!near) continue;
    const double ours = model.predict(own[i].profile, own[i].configuration()).throughput();
    result.ours.push_back(std::abs(ours / own[i].throughput - 1));
    result.nearest.push_back(std::abs(*near / own[i].throughput - 1));
  }
  return result;
}

/// Leaves out each value of a member in turn; at most `share` of its rows are chosen.
std::vector<LeftOut> each_left_out(const GavelData& data, std::size_t most, double share,
                                   const std::string& (*name_of)(const ThroughputObservation&)) {
  const Observations all = observations_of(data);
  std::map<std::string, Observations> by_name;
  for (const ThroughputObservation& one : all) by_name[name_of(one)].push_back(one);
  std::vector<LeftOut> result;
  for (const auto& [name, own] : by_name) {
    Observations others;
    for (const ThroughputObservation& one : all)
      if (name_of(one) != name) others.push_back(one);
    const auto limit = static_cast<std::size_t>(share * static_cast<double>(own.size()));
    LeftOut found = left_out(others, own, std::min(most, limit));
    found.name = name;
    if (!found.ours.empty()) result.push_back(std::move(found));
  }
  return result;
}

const std::string& type_of(const ThroughputObservation& one) { return one.gpu_type; }
const std::string& model_of(const ThroughputObservation& one) { return one.profile.job_type; }

}  // namespace

std::vector<LeftOut> gavel_types_left_out(const GavelData& data, std::size_t most) {
  return each_left_out(data, most, 1, &type_of);
}

std::vector<LeftOut> gavel_models_left_out(const GavelData& data, std::size_t most) {
  return each_left_out(data, most, 0.5, &model_of);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/throughput/throughput_kernel.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace rubato {
namespace {

// Limits of the power law's range.
constexpr double kMaxGpus = 65536;
constexpr double kFarBatch = 5.0;
constexpr double kMaxBatch = 1e15;
constexpr double kFarNodes = 4.0;
// Batches that differ by a factor of e correlate by exp(-1/2).
constexpr double kCurveLength = 1.0;

double square(double x) { return x * x; }

double log_local_batch(std::int64_t batch, int gpus) {
  return std::log(static_cast<double>(batch) / std::max(gpus, 1));
}

int id_in(const auto& map, const auto& key, int unknown) {
  const auto at = map.find(key);
  if (at == map.end()) return unknown;
  if constexpr (requires { at->second.id; })
    return at->second.id;
  else
    return at->second;
}

// The key with the most weight; of several the last.
template <typename Key>
Key heaviest(const std::map<Key, double>& weights) {
  Key best{};
  double most = 0;
  for (const auto& [key, weight] : weights) {
    if (weight < most) continue;
    best = key;
    most = weight;
  }
  return best;
}

}  // namespace

ThroughputPrior ThroughputPrior::plain() {
  ThroughputPrior prior;
  for (const auto member :
       {&ThroughputPrior::type_scaling, &ThroughputPrior::affinity_scaling,
        &ThroughputPrior::type_size, &ThroughputPrior::common_batch, &ThroughputPrior::batch,
        &ThroughputPrior::type_batch, &ThroughputPrior::affinity_batch,
        &ThroughputPrior::batch_curve, &ThroughputPrior::affinity_curve,
        &ThroughputPrior::common_node_spread, &ThroughputPrior::node_spread, &ThroughputPrior::plan,
        &ThroughputPrior::size, &ThroughputPrior::batch_exponent}) {
    prior.*member = 0;
  }
  prior.observation = 0.1;
  return prior;
}

const std::vector<PriorTerm>& prior_terms() {
  using P = ThroughputPrior;
  static const std::vector<PriorTerm> terms = {
      {"type_affinity", &P::type_affinity},
      {"type_speed", &P::type_speed},
      {"scaling", &P::scaling},
      {"common_scaling", &P::common_scaling},
      {"type_scaling", &P::type_scaling},
      {"affinity_scaling", &P::affinity_scaling},
      {"type_size", &P::type_size},
      {"common_batch", &P::common_batch},
      {"batch", &P::batch},
      {"type_batch", &P::type_batch},
      {"affinity_batch", &P::affinity_batch},
      {"batch_curve", &P::batch_curve},
      {"affinity_curve", &P::affinity_curve},
      {"common_spread", &P::common_node_spread},
      {"spread", &P::node_spread},
      {"plan", &P::plan},
      {"size", &P::size},
      {"cell", &P::observation},
      {"report", &P::report},
      {"report_floor", &P::report_floor},
  };
  return terms;
}

KernelPoints::KernelPoints(
    const std::vector<std::pair<ProfileName, JobConfiguration>>& observations,
    const std::vector<double>& weights) {
  struct Seen {
    double sum = 0;
    int count = 0;
    std::map<int, std::map<std::int64_t, double>> batches;  ///< by GPUs
    std::map<std::string, double> plans;
  };
  std::map<ProfileName, Seen> seen;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const auto& [profile, configuration] = observations[i];
    Seen& of = seen[profile];
    const double weight = i < weights.size() ? weights[i] : 1;
    of.plans[configuration.plan] += weight;
    types_[configuration.gpu_type];
    plans_[configuration.plan];
    if (configuration.batch > 0) {
      of.sum += log_local_batch(configuration.batch, configuration.gpus);
      ++of.count;
      of.batches[configuration.gpus][configuration.batch] += weight;
    }
    if (configuration.nodes > 0) {
      double& densest = types_[configuration.gpu_type].densest;
      densest = std::max(densest, static_cast<double>(configuration.gpus) / configuration.nodes);
    }
  }
  int id = 0;
  for (const auto& [name, of] : seen) {
    Profile& profile = profiles_[name];
    profile = {id++, of.count > 0 ? of.sum / of.count : 0, {}, heaviest(of.plans)};
    for (const auto& [gpus, batches] : of.batches) profile.batches[gpus] = heaviest(batches);
  }
  id = 0;
  for (auto& [name, type] : types_) type.id = id++;
  id = 0;
  for (auto& [name, plan] : plans_) plan = id++;
}

std::int64_t KernelPoints::usual_batch(const ProfileName& profile, int gpus) const {
  const auto at = profiles_.find(profile);
  return at != profiles_.end() ? at->second.usual_batch(gpus) : 0;
}

std::int64_t KernelPoints::Profile::usual_batch(int gpus) const {
  if (batches.empty()) return 0;
  const auto above = batches.lower_bound(gpus);
  if (above != batches.end() && above->first == gpus) return above->second;
  const bool one_batch = std::all_of(batches.begin(), batches.end(), [&](const auto& seen) {
    return seen.second == batches.begin()->second;
  });
  if (one_batch && batches.size() > 1) return batches.begin()->second;
  // The next smaller size, unless only larger ones were measured.
  const auto& [size, batch] = *(above == batches.begin() ? above : std::prev(above));
  const double grown = static_cast<double>(batch) / size * gpus;
  return std::max<std::int64_t>(1, std::llround(std::min(grown, kMaxBatch)));
}

const std::string& KernelPoints::usual_plan(const ProfileName& profile) const {
  static const std::string none;
  const auto at = profiles_.find(profile);
  return at != profiles_.end() ? at->second.usual_plan : none;
}

KernelPoint KernelPoints::at(const ProfileName& profile,
                             const JobConfiguration& configuration) const {
  KernelPoint point;
  point.profile = id_in(profiles_, profile, -1);
  point.type = id_in(types_, configuration.gpu_type, -1);
  point.plan = id_in(plans_, configuration.plan, -1);
  point.gpus = std::max(configuration.gpus, 1);
  point.size = std::log(std::min<double>(point.gpus, kMaxGpus));
  const auto found = profiles_.find(profile);
  if (found != profiles_.end() && !found->second.batches.empty()) {
    const Profile& of = found->second;
    const std::int64_t batch =
        configuration.batch > 0 ? configuration.batch : of.usual_batch(point.gpus);
    point.batch =
        std::clamp(log_local_batch(batch, point.gpus) - of.mean_batch, -kFarBatch, kFarBatch);
  }
  const auto type = types_.find(configuration.gpu_type);
  if (configuration.nodes > 0 && type != types_.end() && type->second.densest > 0) {
    const double needed = std::ceil(point.gpus / type->second.densest - 1e-9);
    point.nodes = std::clamp(std::log(configuration.nodes / std::max(needed, 1.0)), 0.0, kFarNodes);
  }
  return point;
}

KernelPoint KernelPoints::at(const ProfileName& profile, const JobConfiguration& configuration,
                             const KernelPoint& other, const JobConfiguration& beside) const {
  KernelPoint point = at(profile, configuration);
  if (point.type < 0 && other.type < 0 && configuration.gpu_type != beside.gpu_type)
    point.type = -2;
  if (point.plan < 0 && other.plan < 0 && configuration.plan != beside.plan) point.plan = -2;
  return point;
}

double prior_log_throughput(const ThroughputPrior& prior, const KernelPoint& at) {
  return prior.exponent * at.size + prior.batch_exponent * at.batch +
         prior.node_spread_exponent * at.nodes;
}

KernelTerms kernel_factors(const KernelPoint& a, const KernelPoint& b) {
  const double sizes = a.size * b.size;
  const double batches = a.batch * b.batch;
  const double nodes = a.nodes * b.nodes;
  const bool type = a.type == b.type;
  const bool gpus = a.gpus == b.gpus;
  KernelTerms f{};
  f[3] = sizes;
  f[7] = batches;
  f[13] = nodes;
  if (type) {
    f[1] = 1;
    f[4] = sizes;
    f[6] = gpus ? 1 : 0;
    f[9] = batches;
  }
  if (a.profile != b.profile) return f;
  // Equal configurations have identical bits.
  const bool batch = a.batch == b.batch;  // NOLINT(clang-diagnostic-float-equal)
  const double curve = batch ? 1 : std::exp(-square((a.batch - b.batch) / kCurveLength) / 2);
  f[2] = sizes;
  f[8] = batches;
  f[11] = curve;
  f[14] = nodes;
  f[15] = a.plan == b.plan ? 1 : 0;
  f[18] = 1;
  if (!type) return f;
  f[0] = 1;
  f[5] = sizes;
  f[10] = batches;
  f[12] = curve;
  f[16] = gpus ? 1 : 0;
  const bool same = gpus && batch && a.plan == b.plan && a.nodes == b.nodes;  // NOLINT
  f[17] = same ? 1 : 0;
  return f;
}

namespace {

// For two different profiles, the common case: the same sum in the same order, without terms that
// are 0.
double kernel_of_two(const KernelTerms& weights, const KernelPoint& a, const KernelPoint& b) {
  const bool type = a.type == b.type;
  const double sizes = a.size * b.size;
  const double batches = a.batch * b.batch;
  double k = 0;
  if (type) k += weights[1];
  k += weights[3] * sizes;
  if (type) {
    k += weights[4] * sizes;
    if (a.gpus == b.gpus) k += weights[6];
  }
  k += weights[7] * batches;
  if (type) k += weights[9] * batches;
  return k + weights[13] * (a.nodes * b.nodes);
}

}  // namespace

KernelTerms kernel_weights(const ThroughputPrior& prior) {
  KernelTerms weights{};
  for (std::size_t i = 0; i + 1 < kKernelTerms; ++i)
    weights[i] = square(prior.*prior_terms()[i].value);
  weights.back() = square(prior.level);
  return weights;
}

double kernel(const KernelTerms& weights, const KernelPoint& a, const KernelPoint& b) {
  if (a.profile != b.profile) return kernel_of_two(weights, a, b);
  const KernelTerms factors = kernel_factors(a, b);
  double k = 0;
  for (std::size_t i = 0; i < kKernelTerms; ++i) k += weights[i] * factors[i];
  return k;
}

double noise(const ThroughputPrior& prior, double reports) {
  return square(prior.report_floor) + square(prior.report) / std::max(reports, 1e-3);
}

}  // namespace rubato

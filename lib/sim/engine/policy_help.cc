// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/policy_help.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/noise.h"

namespace rubato::sim {

bool may_use(const SimJob& job, const ClusterShape& cluster, TypeIndex type) {
  const NodeGroup& group = cluster.groups[type];
  return job.types.empty() ||
         std::any_of(job.types.begin(), job.types.end(), [&](const std::string& name) {
           return name == group.type || (!group.gpu.empty() && name == group.gpu);
         });
}

double speed(const PolicyState& state, const JobView& view, TypeIndex type, int gpus) {
  if (!may_use(*view.job, state.cluster, type) || gpus > state.cluster.gpus(type)) return 0;
  return state.truth->throughput(*view.job, packed(state.cluster, type, gpus), view.done);
}

std::optional<std::vector<NodeGpus>> find_running(const PolicyState& state, const JobView& view,
                                                  const NodePool& pool, TypeIndex type, int gpus) {
  auto where = pool.find(type, gpus, per_gpu(*view.job));
  if (!where) return std::nullopt;
  Setting setting;
  setting.type = type;
  for (const NodeGpus& part : *where) setting.placement.push_back(part.gpus);
  // The job may be unable to run on fragments, or that was not measured.
  if (!(state.truth->throughput(*view.job, setting, view.done) > 0)) return std::nullopt;
  return where;
}

double seconds_left(const PolicyState& state, const JobView& view, TypeIndex type, int gpus) {
  const double throughput = speed(state, view, type, gpus);
  return throughput > 0 ? (view.job->work - view.done) / throughput : kNever;
}

NodePool free_pool(const PolicyState& state, bool held) {
  NodePool pool(state.cluster);
  for (const JobView& view : state.jobs) {
    if (!held || !view.now.holds()) continue;
    // take() cannot fail: the job already runs on these GPUs.
    if (!pool.take(view.now.type, view.now.where, per_gpu(*view.job, view.now))) continue;
  }
  std::size_t flag = 0;
  for (const TypeIndex type : state.cluster.type_indices()) {
    for (const GroupNodeIndex node : state.cluster.groups[type].node_indices()) {
      if (flag == state.node_up.size()) return pool;
      pool.set_up(type, node, state.node_up[flag++] != 0);
    }
  }
  return pool;
}

void settle(const PolicyState& state, std::vector<Grant>& grants) {
  NodePool pool = free_pool(state, false);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < grants.size(); ++i) {
    Grant& grant = grants[i];
    if (!grant.holds()) continue;
    const Grant& now = state.jobs[i].now;
    const bool stays = now.type == grant.type && now.gpus == grant.gpus && now.plan == grant.plan &&
                       now.cores_per_gpu == grant.cores_per_gpu;
    if (stays && pool.take(now.type, now.where, per_gpu(*state.jobs[i].job, grant))) {
      grant.where = now.where;
    } else {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return grants[a].gpus > grants[b].gpus; });
  for (const std::size_t i : order) {
    Grant& grant = grants[i];
    const SimJob& job = *state.jobs[i].job;
    auto where = pool.find(grant.type, grant.gpus, per_gpu(job, grant));
    Setting setting{grant.type, {}, grant.batch, grant.plan};
    if (where) {
      for (const NodeGpus& part : *where) setting.placement.push_back(part.gpus);
    }
    const bool runs = where && state.truth->throughput(job, setting, state.jobs[i].done) > 0;
    if (runs && pool.take(grant.type, *where, per_gpu(job, grant))) {
      grant.where = std::move(*where);
    } else {
      grant = {};
    }
  }
}

double forecast_factor(const SimJob& job, std::uint64_t seed, JobIndex number) {
  constexpr std::uint64_t kForecast = 131;
  const auto draw = static_cast<std::uint64_t>(number.value());
  return std::exp(job.forecast_error * normal_noise(seed, kForecast, draw));
}

std::vector<Grant> as_it_is(const PolicyState& state) {
  std::vector<Grant> grants;
  for (const JobView& view : state.jobs) grants.push_back(view.now);
  return grants;
}

namespace {

std::vector<TypeIndex> types_of(const ClusterShape& cluster) {
  std::vector<TypeIndex> types;
  for (const TypeIndex type : cluster.type_indices()) types.push_back(type);
  return types;
}

}  // namespace

std::vector<TypeIndex> types_by_shape(const ClusterShape& cluster) {
  std::vector<TypeIndex> types = types_of(cluster);
  std::ranges::sort(types, [&](TypeIndex a, TypeIndex b) {
    const auto larger_first = [&](TypeIndex type) {
      const NodeGroup& group = cluster.groups[type];
      return std::tuple(-group.gpus_per_node, -group.nodes, -group.cores, -group.memory,
                        std::string_view(group.type));
    };
    return larger_first(a) < larger_first(b);
  });
  return types;
}

TypeOrder::TypeOrder(const PolicyContext& context)
    : types_(context.types_in_order ? types_of(context.cluster) : types_by_shape(context.cluster)),
      seed_(context.seed),
      in_order_(context.types_in_order) {}

std::vector<TypeIndex> TypeOrder::of(JobIndex job) const {
  /// Stream of the draws; large, since reports use the numbers of jobs as streams.
  constexpr std::uint64_t kTypes = 0x7479706573000000;
  std::vector<TypeIndex> order = types_;
  const auto number = static_cast<std::uint64_t>(job.value());
  for (std::size_t i = order.size(); i > 1 && !in_order_; --i) {
    const double share = uniform_noise(seed_, kTypes + i, number);
    std::swap(order[i - 1], order[static_cast<std::size_t>(share * static_cast<double>(i))]);
  }
  return order;
}

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/rubick_nodes.h"

#include <algorithm>

#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

/// The shapes in which the model may use that many GPUs, in the order in which Rubick tries them.
std::vector<RubickShape> shapes_of(const RubickTimes& times, const SimJob& job, int gpus) {
  std::vector<RubickShape> shapes;
  const auto kind = rubick_kind(job.model);
  if (!kind) return shapes;
  if ((*kind)->large()) {
    for (const RubickShape& shape : (*kind)->shapes) {
      if (shape.nodes * shape.gpus == gpus) shapes.push_back(shape);
    }
  } else {
    shapes.push_back({1, gpus});
  }
  std::erase_if(shapes, [&](const RubickShape& shape) {
    return !times.seconds(job.model, shape).has_value();
  });
  return shapes;
}

bool has_shape(const std::vector<NodeGpus>& where, const RubickShape& shape) {
  return std::cmp_equal(where.size(), shape.nodes) &&
         std::ranges::all_of(where, [&](const NodeGpus& part) { return part.gpus == shape.gpus; });
}

}  // namespace

std::optional<std::vector<NodeGpus>> rubick_nodes(const RubickTimes& times, const SimJob& job,
                                                  const Grant& grant, const NodePool& pool) {
  const PerGpu each = per_gpu(job, grant);
  std::vector<GroupNodeIndex> nodes;
  const std::size_t all = pool.up_flags().size();
  for (std::size_t n = 0; n < all; ++n) nodes.emplace_back(n);
  const auto room = [&](GroupNodeIndex node) { return pool.room(grant.type, node, each); };
  for (const RubickShape& shape : shapes_of(times, job, grant.gpus)) {
    const bool free = std::ranges::all_of(
        grant.where, [&](const NodeGpus& part) { return room(part.node) >= part.gpus; });
    if (free && has_shape(grant.where, shape)) return grant.where;
  }
  for (const RubickShape& shape : shapes_of(times, job, grant.gpus)) {
    std::vector<GroupNodeIndex> order = nodes;
    if (shape.nodes == 1) {
      std::ranges::stable_sort(order, {}, [&](GroupNodeIndex node) { return -room(node); });
    }
    std::vector<NodeGpus> found;
    for (const GroupNodeIndex node : order) {
      if (std::cmp_less(found.size(), shape.nodes) && room(node) >= shape.gpus) {
        found.push_back({node, shape.gpus});
      }
    }
    if (std::cmp_equal(found.size(), shape.nodes)) return found;
  }
  return std::nullopt;
}

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/kept_place.h"

#include <algorithm>

namespace rubato {
namespace {

// What of `share` is not free on its node.
NodeShare missing(NodeShare share, const Node& node) {
  share.cores -= node.cores_free;
  share.memory -= node.memory_free;
  for (GpuCount& gpus : share.gpus) {
    const auto at = std::ranges::find(node.gpus, gpus.type, &GpuGroup::type);
    if (at != node.gpus.end()) gpus.count -= at->free;
  }
  return share;
}

bool is_missing(const NodeShare& share) {
  return share.cores > 0 || share.memory > 0 ||
         std::ranges::any_of(share.gpus, [](const GpuCount& gpus) { return gpus.count > 0; });
}

// Whether the running job gives up what it holds before `change` takes place.
bool frees(const AskedResize& change, const Job& job, const Memory& memory) {
  if (job.state != JobState::kRunning) return false;
  if (job.key == change.job) return !change.live;
  if (!std::ranges::binary_search(change.after, job.key)) return false;
  return std::ranges::none_of(memory.asked_resizes, [&](const AskedResize& one) {
    return one.job.id == job.key.id && one.step == ResizeStep::kFailed;
  });
}

// Subtracts what the job holds on the node of `rest`.
void take_off(NodeShare& rest, const Job& job) {
  const NodeShare* const held = share_on(job.allocation, rest.node);
  if (held == nullptr) return;
  rest.cores -= held->cores;
  rest.memory -= held->memory;
  for (GpuCount& gpus : rest.gpus) gpus.count -= held->gpu_count(gpus.type);
}

}  // namespace

bool has_place(const AskedResize& change, const Snapshot& snapshot, const Memory& memory) {
  return std::ranges::all_of(change.shares, [&](const NodeShare& share) {
    const Node& node = snapshot.nodes[share.node];
    if (!node.in_service()) return false;
    NodeShare rest = missing(share, node);
    for (const Job& job : snapshot.jobs)
      if (frees(change, job, memory)) take_off(rest, job);
    return !is_missing(rest);
  });
}

bool is_free(const std::vector<NodeShare>& place, const Snapshot& snapshot) {
  return std::ranges::all_of(place, [&](const NodeShare& share) {
    const Node& node = snapshot.nodes[share.node];
    return node.usable && !is_missing(missing(share, node));
  });
}

}  // namespace rubato

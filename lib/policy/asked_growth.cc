// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/asked_growth.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/resize_request.h"
#include "lib/hints/values.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/asked_resize.h"
#include "lib/policy/asked_shrink.h"

namespace rubato {
namespace {

// The one type of its GPUs; "" if there are several.
std::string type_of(const Job& job) {
  std::string type;
  for (const NodeShare& share : job.allocation)
    for (const GpuCount& gpus : share.gpus) {
      if (!type.empty() && type != gpus.type) return "";
      type = gpus.type;
    }
  return type;
}

std::string why_not_size(const Job& job, int gpus) {
  const int held = held_gpus(job);
  if (gpus <= held) return fmt::format("it has {} GPUs; this is no growth", held);
  return "";
}

std::string why_over_cap(const RoundInput& input, const Job& job, int gpus) {
  const auto left = GrowthCaps(input).left_for(job);
  const int beyond = beyond_request(job, gpus);
  if (!left || beyond <= *left) return "";
  return fmt::format("{} GPUs are {} beyond its request; GrowthCap leaves {}", gpus, beyond, *left);
}

std::vector<NodeIndex> nodes_of(const Job& job) {
  std::vector<NodeIndex> nodes;
  for (const NodeShare& share : job.allocation) nodes.push_back(share.node);
  std::ranges::sort(nodes);
  return nodes;
}

/// How many nodes the request allows at the new size; a limit is that of the request, 0: none.
struct Nodes {
  std::vector<NodeIndex> held;  ///< sorted
  int min = 1;
  int max = 0;

  [[nodiscard]] int count() const { return static_cast<int>(held.size()); }
  [[nodiscard]] bool may_stay() const { return count() >= min && (max == 0 || count() <= max); }
  [[nodiscard]] bool may_come() const { return max == 0 || count() < max; }
  [[nodiscard]] bool allow(const std::vector<NodeShare>& added) const {
    const auto more = std::ranges::count_if(added, [&](const NodeShare& share) {
      return !std::ranges::binary_search(held, share.node);
    });
    const int all = count() + static_cast<int>(more);
    return all >= min && (max == 0 || all <= max);
  }
  [[nodiscard]] std::string text(int gpus) const {
    const std::string range = max == 0     ? fmt::format("at least {}", min)
                              : min == max ? std::to_string(min)
                                           : fmt::format("{} to {}", min, max);
    return fmt::format("with {} GPUs its request is for {} nodes, which free GPUs do not give",
                       gpus, range);
  }
};

Nodes nodes_for(const Job& sized, const Job& job) {
  return {.held = nodes_of(job),
          .min = std::max(sized.request.min_nodes, 1),
          .max = sized.request.max_nodes};
}

std::vector<NodeIndex> nodes_beside(const Snapshot& snapshot, const std::vector<NodeIndex>& held) {
  std::vector<NodeIndex> others;
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i)
    if (!std::ranges::binary_search(held, NodeIndex{i})) others.push_back(NodeIndex{i});
  return others;
}

Result<std::vector<NodeShare>> shares_of(Result<Start> start) {
  if (!start) return tl::unexpected(start.error());
  return std::move(start->shares);
}

}  // namespace

bool grows_live(const Job& job, int gpus) {
  return why_never_live(job).empty() && gpus > held_gpus(job);
}

Result<std::vector<NodeShare>> nodes_added(const Snapshot& snapshot, const Models& models,
                                           const Config& config, const Job& job, int gpus,
                                           Seconds now) {
  if (std::string why = why_never_live(job); !why.empty()) return fail(std::move(why));
  if (std::string why = why_not_size(job, gpus); !why.empty()) return fail(std::move(why));
  const std::string type = type_of(job);
  if (type.empty()) return fail("it holds GPUs of several types; it grows only by a restart");
  const RoundInput input{.snapshot = snapshot, .models = models, .config = config, .now = now};
  if (std::string why = why_over_cap(input, job, gpus); !why.empty()) return fail(std::move(why));
  const auto sized = at_size(job, gpus, type);
  if (!sized) return tl::unexpected(sized.error());
  const Nodes nodes = nodes_for(*sized, job);
  const auto start = [&](const std::vector<NodeIndex>* only) {
    return start_beside(snapshot, models, config, job.key,
                        {.gpus = gpus - held_gpus(job), .gpu_type = type}, only, now);
  };
  if (nodes.may_stay()) {
    if (auto own = start(&nodes.held); own || !nodes.may_come()) return shares_of(std::move(own));
  }
  const std::vector<NodeIndex> others = nodes_beside(snapshot, nodes.held);
  auto more = shares_of(start(nodes.may_stay() ? nullptr : &others));
  if (more && !nodes.allow(*more)) return fail(nodes.text(gpus));
  return more;
}

bool may_have_beside(const Job& job, int gpus, const std::vector<NodeShare>& added) {
  const auto sized = at_size(job, gpus, type_of(job));
  return sized && nodes_for(*sized, job).allow(added);
}

std::vector<NodeShare> with_held(const Job& job, const std::vector<NodeShare>& added) {
  std::vector<NodeShare> all = job.allocation;
  for (const NodeShare& more : added) {
    const auto own = std::ranges::find(all, more.node, &NodeShare::node);
    if (own == all.end()) {
      all.push_back(more);
      continue;
    }
    own->cores += more.cores;
    own->memory += more.memory;
    for (const GpuCount& gpus : more.gpus) {
      const auto same = std::ranges::find(own->gpus, gpus.type, &GpuCount::type);
      if (same != own->gpus.end())
        same->count += gpus.count;
      else
        own->gpus.push_back(gpus);
    }
  }
  std::ranges::sort(all, {}, &NodeShare::node);
  return all;
}

std::vector<NodeShare> beside_held(const Job& job, const std::vector<NodeShare>& shares) {
  std::vector<NodeShare> added;
  for (const NodeShare& share : shares) {
    NodeShare more = beyond(share, share_on(job.allocation, share.node));
    if (!more.gpus.empty()) added.push_back(std::move(more));
  }
  return added;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/asked_shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lib/hints/values.h"
#include "lib/policy/algorithms/growth_cap.h"

namespace rubato {
namespace {

bool others_use(const Node& node, const NodeShare& own) {
  int used = -own.gpu_count();
  for (const GpuGroup& group : node.gpus) used += group.total - group.free;
  return used > 0;
}

// The node of its batch script, then those that it keeps rather than others.
std::vector<NodeShare> in_order(const Snapshot& snapshot, const Job& job) {
  std::vector<NodeShare> shares = job.allocation;
  const auto batch = std::ranges::find(shares, job.batch_node, &NodeShare::node);
  if (batch != shares.end()) std::rotate(shares.begin(), batch, batch + 1);
  std::stable_partition(shares.begin() + 1, shares.end(), [&](const NodeShare& share) {
    return others_use(snapshot.nodes[share.node], share);
  });
  return shares;
}

/// The numbers of GPUs below `limit` that a choice among some nodes has.
using Sums = std::vector<bool>;

/// Element i: the choices among all nodes from i on.
std::vector<Sums> sums_from(const std::vector<NodeShare>& shares, int limit) {
  Sums sums(static_cast<std::size_t>(limit));
  sums[0] = true;
  std::vector<Sums> all{sums};
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    const auto gpus = static_cast<std::size_t>(share->gpu_count());
    for (std::size_t sum = sums.size(); sum-- > gpus;) sums[sum] = sums[sum] || sums[sum - gpus];
    all.push_back(sums);
  }
  std::ranges::reverse(all);
  return all;
}

bool has(const Sums& sums, int gpus) {
  return gpus >= 0 && gpus < static_cast<int>(sums.size()) && sums[static_cast<std::size_t>(gpus)];
}

// The sizes of the job that whole nodes give, its first one among them.
std::string sizes_of(const Job& job, const Sums& rest, int first, int held) {
  std::vector<int> sizes;
  for (int gpus = 1; gpus < held; ++gpus)
    if (has(rest, gpus - first) && job.hints->sizes.contains(gpus)) sizes.push_back(gpus);
  if (sizes.empty())
    return "at none of its sizes can it keep whole nodes, that of its batch script among them";
  return fmt::format("with whole nodes, that of its batch script among them, it can have {}",
                     fmt::join(sizes, ", "));
}

}  // namespace

std::string why_never_live(const Job& job) {
  if (job.state != JobState::kRunning) return "the job does not run";
  if (!job.managed) return "Rubato does not manage the job";
  if (!job.batch) return "an interactive job keeps its nodes";
  if (job.het) return "a part of a heterogeneous job keeps its nodes";
  if (!job.hints || job.hints->resize != Resize::kLive)
    return "the job did not consent to another size while it runs; the hint for that is "
           "resize=live";
  return "";
}

bool shrinks_live(const Job& job, int gpus) {
  return why_never_live(job).empty() && gpus < held_gpus(job);
}

Result<std::vector<NodeShare>> nodes_kept(const Snapshot& snapshot, const Job& job, int gpus) {
  if (std::string why = why_never_live(job); !why.empty()) return fail(std::move(why));
  const int held = held_gpus(job);
  if (gpus >= held) return fail(fmt::format("it has {} GPUs; this is no shrink", held));
  if (!job.hints->sizes.contains(gpus))
    return fail(fmt::format("{} GPUs: not one of its sizes, {}", gpus, to_text(job.hints->sizes)));
  const std::vector<NodeShare> shares = in_order(snapshot, job);
  const std::vector<Sums> sums = sums_from(shares, held);
  int left = gpus - shares[0].gpu_count();
  if (!has(sums[1], left))
    return fail(
        fmt::format("{} GPUs: {}", gpus, sizes_of(job, sums[1], shares[0].gpu_count(), held)));
  std::vector<NodeShare> kept{shares[0]};
  for (std::size_t i = 1; i < shares.size(); ++i) {
    if (!has(sums[i + 1], left - shares[i].gpu_count())) continue;
    left -= shares[i].gpu_count();
    kept.push_back(shares[i]);
  }
  std::ranges::sort(kept, {}, &NodeShare::node);
  return kept;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/pending_queue.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/size.h"

namespace rubato {
namespace {

const NodeSet kNoNodes;

std::vector<const NodeSet*> valid_sets(const Snapshot& snapshot) {
  std::vector<const NodeSet*> sets;
  for (const NodeSet& set : snapshot.node_sets) {
    const bool valid = std::all_of(
        set.begin(), set.end(), [&](NodeIndex node) { return node.within(snapshot.nodes.size()); });
    sets.push_back(valid ? &set : &kNoNodes);
  }
  return sets;
}

}  // namespace

const NodeSet* PendingQueue::set(NodeSetIndex index) const {
  return index.within(sets.size()) ? sets[index] : &kNoNodes;
}

std::span<const EntryIndex> PendingQueue::entries_of(const JobKey& job) const {
  const auto begin = std::lower_bound(
      by_key.begin(), by_key.end(), job,
      [&](EntryIndex order, const JobKey& key) { return entries[order].job->key < key; });
  const auto end = std::find_if(begin, by_key.end(),
                                [&](EntryIndex order) { return entries[order].job->key != job; });
  return {begin, end};
}

PendingQueue make_queue(const RoundInput& input, const std::vector<const Job*>& order) {
  PendingQueue queue;
  queue.sets = valid_sets(input.snapshot);
  queue.entries.reserve(order.size());
  for (const Job* job : order) {
    PendingEntry entry;
    entry.job = job;
    entry.order = EntryIndex{queue.entries.size()};
    if (std::optional<Job> other = sized(*job, input.config)) {
      entry.gpus = static_cast<int>(requested_gpus(*other));
      entry.on_cpus = entry.gpus == 0;
      entry.job = &queue.sized.emplace_back(std::move(*other));
    }
    entry.demand = Demand(size_of(*entry.job));
    entry.nodes = queue.set(job->node_set);
    entry.later = queue.set(job->later_set.valid() ? job->later_set : job->node_set);
    queue.entries.push_back(std::move(entry));
  }
  queue.by_key.resize(queue.entries.size());
  std::iota(queue.by_key.begin(), queue.by_key.end(), EntryIndex{0});
  std::sort(queue.by_key.begin(), queue.by_key.end(), [&](EntryIndex a, EntryIndex b) {
    return std::tie(queue.entries[a].job->key, a) < std::tie(queue.entries[b].job->key, b);
  });
  return queue;
}

}  // namespace rubato

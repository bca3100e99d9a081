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

std::size_t at(int index) { return static_cast<std::size_t>(index); }

std::vector<const NodeSet*> valid_sets(const Snapshot& snapshot) {
  const int nodes = static_cast<int>(snapshot.nodes.size());
  std::vector<const NodeSet*> sets;
  for (const NodeSet& set : snapshot.node_sets) {
    const bool valid =
        std::all_of(set.begin(), set.end(), [&](int node) { return node >= 0 && node < nodes; });
    sets.push_back(valid ? &set : &kNoNodes);
  }
  return sets;
}

}  // namespace

const NodeSet* PendingQueue::set(int index) const {
  return index >= 0 && at(index) < sets.size() ? sets[at(index)] : &kNoNodes;
}

std::span<const int> PendingQueue::entries_of(const JobKey& job) const {
  const auto begin = std::lower_bound(
      by_key.begin(), by_key.end(), job,
      [&](int order, const JobKey& key) { return entries[at(order)].job->key < key; });
  const auto end = std::find_if(begin, by_key.end(),
                                [&](int order) { return entries[at(order)].job->key != job; });
  return {begin, end};
}

PendingQueue make_queue(const RoundInput& input, const std::vector<const Job*>& order) {
  PendingQueue queue;
  queue.sets = valid_sets(input.snapshot);
  queue.entries.reserve(order.size());
  for (const Job* job : order) {
    PendingEntry entry;
    entry.job = job;
    entry.order = static_cast<int>(queue.entries.size());
    if (std::optional<Job> other = sized(*job, input.config)) {
      entry.gpus = static_cast<int>(requested_gpus(*other));
      entry.on_cpus = entry.gpus == 0;
      entry.job = &queue.sized.emplace_back(std::move(*other));
    }
    entry.demand = Demand(size_of(*entry.job));
    entry.nodes = queue.set(job->node_set);
    entry.later = queue.set(job->later_set >= 0 ? job->later_set : job->node_set);
    queue.entries.push_back(std::move(entry));
  }
  queue.by_key.resize(queue.entries.size());
  std::iota(queue.by_key.begin(), queue.by_key.end(), 0);
  std::sort(queue.by_key.begin(), queue.by_key.end(), [&](int a, int b) {
    return std::tie(queue.entries[at(a)].job->key, a) < std::tie(queue.entries[at(b)].job->key, b);
  });
  return queue;
}

}  // namespace rubato

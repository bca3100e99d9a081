// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/pending_queue.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/size.h"
#include "lib/policy/prioritise.h"

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

const NodeSet* RoundContext::set(int index) const {
  return index >= 0 && at(index) < sets.size() ? sets[at(index)] : &kNoNodes;
}

std::span<const int> RoundContext::entries_of(const JobKey& job) const {
  const auto begin = std::lower_bound(
      by_key.begin(), by_key.end(), job,
      [&](int order, const JobKey& key) { return queue[at(order)].job->key < key; });
  const auto end = std::find_if(begin, by_key.end(),
                                [&](int order) { return queue[at(order)].job->key != job; });
  return {begin, end};
}

Seconds RoundContext::waited(const Job& job) const {
  return job.eligible > 0 ? std::max<Seconds>(now - job.eligible, 0) : 0;
}

RoundContext make_context(const Snapshot& snapshot, const Config& config, Seconds now,
                          std::vector<Service> service, std::vector<JobNeed> needs) {
  RoundContext context{snapshot, config, now, {}, {}, {}, {}, {}};
  context.sets = valid_sets(snapshot);
  context.service = std::move(service);
  context.needs = std::move(needs);
  for (const Job* job : prioritise(snapshot, config, context.service, context.needs)) {
    PendingEntry entry;
    entry.job = job;
    entry.order = static_cast<int>(context.queue.size());
    if (std::optional<Job> other = sized(*job, config)) {
      entry.gpus = static_cast<int>(requested_gpus(*other));
      entry.on_cpus = entry.gpus == 0;
      entry.job = &context.sized.emplace_back(std::move(*other));
    }
    entry.demand = Demand(size_of(*entry.job));
    entry.nodes = context.set(job->node_set);
    entry.later = context.set(job->later_set >= 0 ? job->later_set : job->node_set);
    context.queue.push_back(std::move(entry));
  }
  context.by_key.resize(context.queue.size());
  std::iota(context.by_key.begin(), context.by_key.end(), 0);
  std::sort(context.by_key.begin(), context.by_key.end(), [&](int a, int b) {
    return std::tie(context.queue[at(a)].job->key, a) < std::tie(context.queue[at(b)].job->key, b);
  });
  return context;
}

}  // namespace rubato

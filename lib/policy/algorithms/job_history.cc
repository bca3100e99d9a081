// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/job_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/fingerprint.h"
#include "lib/json/json.h"

namespace rubato {
namespace {

constexpr Seconds kMaxBackOff = 60;

std::string request_print(const Job& job) {
  const Request& r = job.request;
  return fingerprint(fmt::format("{} {} {} {} {} \"{}\" {} {} {} {} {} {} {} {} \"{}\" \"{}\"",
                                 r.min_nodes, r.max_nodes, r.gpus, r.gpus_per_node, r.gpu_quantum,
                                 r.gpu_type, r.threads, r.cores, r.cores_per_node, r.cores_per_gpu,
                                 r.memory_per_node, r.memory_per_core, r.memory_per_gpu,
                                 r.whole_nodes, job.time_limit, job.account, job.qos));
}

int free_cores(const Snapshot& snapshot, const NodeSet& nodes) {
  int sum = 0;
  for (const int index : nodes) {
    const Node& node = snapshot.nodes[static_cast<std::size_t>(index)];
    if (node.usable) sum += node.cores_free;
  }
  return sum;
}

}  // namespace

Seconds back_off(int refusals) {
  if (refusals <= 0) return 0;
  return refusals > 6 ? kMaxBackOff : std::min<Seconds>(Seconds{1} << (refusals - 1), kMaxBackOff);
}

History::History(const RoundContext& context) : context_(context) {
  const std::vector<JobMemory>& before = context.snapshot.memory.jobs;
  auto old = before.begin();
  for (const int order : context.by_key) {
    const PendingEntry& entry = context.queue[static_cast<std::size_t>(order)];
    const Job& job = *entry.job;
    if (!memory_.empty() && memory_.back().job == job.key) continue;
    while (old != before.end() && old->job < job.key) ++old;
    if (old != before.end() && old->job == job.key) {
      memory_.push_back(*old);
      room_grew_.push_back(false);
      check_refusals(memory_.back(), entry);
    } else {
      room_grew_.push_back(false);
      JobMemory fresh;
      fresh.job = job.key;
      fresh.first_seen = context.now;
      memory_.push_back(std::move(fresh));
    }
  }
  waits_.assign(memory_.size(), false);
}

void History::check_refusals(JobMemory& memory, const PendingEntry& entry) {
  if (memory.refusals == 0) return;
  const std::string print = request_print(*entry.job);
  const int free = free_cores(context_.snapshot, *entry.nodes);
  if (memory.refused_request.empty()) {
    memory.refused_request = print;
  } else if (memory.refused_request != print) {
    memory.refusals = 0;
    memory.last_try = 0;
    memory.refusal.clear();
    memory.refused_request.clear();
  } else if (free > memory.refused_free) {
    room_grew_.back() = true;
  }
  memory.refused_free = memory.refusals > 0 ? free : 0;
}

std::size_t History::index_of(const PendingEntry& entry) const {
  const auto found =
      std::lower_bound(memory_.begin(), memory_.end(), entry.job->key,
                       [](const JobMemory& memory, const JobKey& key) { return memory.job < key; });
  return static_cast<std::size_t>(found - memory_.begin());
}

const JobMemory& History::of(const PendingEntry& entry) const { return memory_[index_of(entry)]; }

Seconds History::next_try(const PendingEntry& entry) const {
  const std::size_t index = index_of(entry);
  const JobMemory& memory = memory_[index];
  if (room_grew_[index]) return 0;
  return memory.refusals > 0 ? add_seconds(memory.last_try, back_off(memory.refusals)) : 0;
}

void History::waits(const PendingEntry& entry) {
  const std::size_t index = index_of(entry);
  if (waits_[index]) return;
  waits_[index] = true;
  auto [found, fresh] = groups_.try_emplace(entry.nodes);
  NodeSetStarts& group = found->second;
  if (fresh) {
    group.nodes.assign(context_.snapshot.nodes.size(), false);
    for (const int node : *entry.nodes) group.nodes[static_cast<std::size_t>(node)] = true;
  }
  waiting_.push_back({index, &group, group.starts});
}

void History::started(const std::vector<NodeShare>& shares) {
  for (auto& entry : groups_) {
    NodeSetStarts& group = entry.second;
    const bool touches = std::any_of(shares.begin(), shares.end(), [&](const NodeShare& share) {
      return group.nodes[static_cast<std::size_t>(share.node)];
    });
    if (touches) ++group.starts;
  }
}

std::vector<JobMemory> History::take() {
  for (const PassedCount& waiting : waiting_) {
    JobMemory& memory = memory_[waiting.memory];
    const int passed = waiting.group->starts - waiting.starts_before;
    if (passed > 0 && memory.passed == 0) memory.passed_since = context_.now;
    memory.passed += passed;
  }
  return std::move(memory_);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/job_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/fingerprint.h"

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
  for (const NodeIndex index : nodes) {
    const Node& node = snapshot.nodes[index];
    if (node.usable) sum += node.cores_free;
  }
  return sum;
}

// Drops refusals of another request. True if cores came free on the job's nodes since then.
bool check_refusals(JobMemory& memory, const RoundInput& input, const PendingEntry& entry) {
  if (memory.refusals == 0) return false;
  const std::string print = request_print(*entry.job);
  const int free = free_cores(input.snapshot, *entry.nodes);
  bool grew = false;
  if (memory.refused_request.empty()) {
    memory.refused_request = print;
  } else if (memory.refused_request != print) {
    memory.refusals = 0;
    memory.asked = 0;
    memory.promised = 0;
    memory.last_try = 0;
    memory.refusal.clear();
    memory.refused_request.clear();
  } else {
    grew = free > memory.refused_free;
  }
  memory.refused_free = memory.refusals > 0 ? free : 0;
  return grew;
}

// Whether the job could get its nodes and GPUs from nodes that have GPUs of this type only.
bool has_enough(const Snapshot& snapshot, const Job& job, const std::string& type) {
  const NodeSetIndex set = job.later_set.valid() ? job.later_set : job.node_set;
  if (!set.valid()) return false;
  int nodes = 0;
  int gpus = 0;
  for (const NodeIndex index : snapshot.node_sets[set]) {
    const Node& node = snapshot.nodes[index];
    if (!node.has_only(type) || node.gpus_total() < job.request.gpus_per_node) continue;
    if (!node.in_service()) continue;
    ++nodes;
    gpus += node.gpus_total();
  }
  return nodes >= job.request.min_nodes && gpus >= job.request.gpus_on(job.request.min_nodes);
}

}  // namespace

// A job that may preempt is tried without room, too: that says nothing against the model.
bool asks_backfill(const JobMemory& memory) {
  return memory.refusals - memory.asked >= kMaxRefusals;
}

const std::string* backfill_type(const Snapshot& snapshot, const Job& job) {
  if (!job.hints) return nullptr;
  for (const std::vector<std::string>& equally_good : job.hints->gpu_types)
    for (const std::string& type : equally_good)
      if (has_enough(snapshot, job, type)) return &type;
  return nullptr;
}

bool left_to_backfill(const Snapshot& snapshot, const Job& job, const JobMemory& memory,
                      const Config& config) {
  if (!asks_backfill(memory) || config.off(Mechanism::kAskBackfill)) return false;
  const bool typed = job.hints && !job.hints->gpu_types.empty();
  return !typed || backfill_type(snapshot, job) != nullptr;
}

Seconds back_off(int refusals) {
  if (refusals <= 0) return 0;
  return refusals > 6 ? kMaxBackOff : std::min<Seconds>(Seconds{1} << (refusals - 1), kMaxBackOff);
}

JobHistory::JobHistory(const RoundInput& input, const PendingQueue& queue) {
  const std::vector<JobMemory>& before = input.snapshot.memory.jobs;
  auto old = before.begin();
  for (const EntryIndex order : queue.by_key) {
    const PendingEntry& entry = queue.entries[order];
    const JobKey& key = entry.job->key;
    if (!jobs_.empty() && jobs_.back().job == key) continue;
    while (old != before.end() && old->job < key) ++old;
    add(input, entry, old != before.end() && old->job == key ? &*old : nullptr);
  }
}

void JobHistory::add(const RoundInput& input, const PendingEntry& entry, const JobMemory* before) {
  JobMemory memory;
  memory.job = entry.job->key;
  memory.first_seen = input.now;
  if (before != nullptr) memory = *before;
  room_grew_.push_back(before != nullptr && check_refusals(memory, input, entry));
  jobs_.push_back(std::move(memory));
}

std::size_t JobHistory::index_of(const PendingEntry& entry) const {
  const auto found =
      std::lower_bound(jobs_.begin(), jobs_.end(), entry.job->key,
                       [](const JobMemory& memory, const JobKey& key) { return memory.job < key; });
  return static_cast<std::size_t>(found - jobs_.begin());
}

Seconds JobHistory::next_try(const PendingEntry& entry) const {
  const std::size_t index = index_of(entry);
  const JobMemory& memory = jobs_[index];
  if (room_grew_[index]) return 0;
  return memory.refusals > 0 ? add_seconds(memory.last_try, back_off(memory.refusals)) : 0;
}

PassedJobs::PassedJobs(const JobHistory& history, std::size_t nodes)
    : history_(history), nodes_(nodes), waits_(history.jobs().size(), false) {}

void PassedJobs::waits(const PendingEntry& entry) {
  const std::size_t index = history_.index_of(entry);
  if (waits_[index]) return;
  waits_[index] = true;
  auto [found, fresh] = groups_.try_emplace(entry.nodes);
  NodeSetStarts& group = found->second;
  if (fresh) {
    group.nodes.assign(nodes_, false);
    for (const NodeIndex node : *entry.nodes) group.nodes[node] = true;
  }
  waiting_.push_back({index, &group, group.starts});
}

void PassedJobs::started(const std::vector<NodeShare>& shares) {
  for (auto& entry : groups_) {
    NodeSetStarts& group = entry.second;
    const bool touches = std::any_of(shares.begin(), shares.end(), [&](const NodeShare& share) {
      return group.nodes[share.node];
    });
    if (touches) ++group.starts;
  }
}

std::vector<int> PassedJobs::counts() const {
  std::vector<int> counts(waits_.size(), 0);
  for (const WaitingJob& one : waiting_) counts[one.job] = one.group->starts - one.starts_before;
  return counts;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/support/plan_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lib/core/resize_request.h"

namespace rubato::test {
namespace {

Seconds limit_of(const Start& start, const Job& job) {
  return start.time_limit > 0 ? start.time_limit : job.time_limit;
}

// Free resources of a node.
struct Free {
  std::int64_t cores = 0;
  std::int64_t memory = 0;
  std::map<std::string, std::int64_t> gpus;

  void add(const NodeShare& share, int sign) {
    cores += sign * share.cores;
    memory += sign * share.memory;
    for (const GpuCount& group : share.gpus) gpus[group.type] += sign * group.count;
  }
  [[nodiscard]] bool negative() const {
    return cores < 0 || memory < 0 ||
           std::any_of(gpus.begin(), gpus.end(), [](const auto& g) { return g.second < 0; });
  }
};

std::vector<Free> free_now(const Snapshot& snapshot) {
  std::vector<Free> free;
  for (const Node& node : snapshot.nodes) {
    Free one{node.cores_free, node.memory_free, {}};
    for (const GpuGroup& group : node.gpus) one.gpus[group.type] = group.free;
    free.push_back(one);
  }
  return free;
}

const NodeSet& set_of(const Snapshot& snapshot, NodeSetIndex index) {
  static const NodeSet kNone;
  return index.valid() ? snapshot.node_sets.at(index) : kNone;
}

bool entirely_free(const Node& node, const Free& free) {
  if (free.cores != node.cores || free.memory != node.memory) return false;
  return std::all_of(node.gpus.begin(), node.gpus.end(), [&](const GpuGroup& group) {
    const auto at = free.gpus.find(group.type);
    return at != free.gpus.end() && at->second == group.total;
  });
}

std::string check_share(const Snapshot& snapshot, const Job& job, const std::string& type,
                        const NodeShare& share, std::int64_t nodes, std::int64_t gpus_in_all) {
  const Request& r = job.request;
  const Node& node = snapshot.nodes.at(share.node);
  if (r.whole_nodes) {
    const bool all = share.cores == node.cores && share.memory == node.memory &&
                     share.gpu_count() == node.gpus_total();
    return all ? "" : "a whole-node job does not take all of " + node.name;
  }
  const std::int64_t gpus = share.gpu_count();
  for (const GpuCount& group : share.gpus) {
    // "" on nodes with named types means any type, for a request that no single type can satisfy.
    const bool mixed = type.empty() && r.gpu_type.empty();
    if (group.type != type && !mixed) return "GPUs of another type than chosen on " + node.name;
  }
  if (r.gpus_per_node > 0 && gpus != r.gpus_per_node) return "wrong GPUs on " + node.name;
  if (r.wants_gpus() && gpus == 0) return "no GPU on " + node.name;
  if (r.gpus_per_node == 0 && gpus % std::max(r.gpu_quantum, 1) != 0) {
    return "GPUs are no multiple of the quantum on " + node.name;
  }
  std::int64_t cpus = std::max({1, r.cores_per_node});
  cpus = std::max<std::int64_t>(cpus, r.cores_per_gpu * gpus);
  if (gpus > 0) {
    // The part of the cores that belongs to this part of the GPUs.
    const std::int64_t of = r.gpus_per_node > 0 ? nodes : gpus_in_all;
    const std::int64_t part = r.gpus_per_node > 0 ? 1 : gpus;
    cpus = std::max(cpus, (r.cores * part + of - 1) / of);
  }
  const std::int64_t cpus_of_core = std::max(r.threads, 1);
  if (share.cores * cpus_of_core < cpus) return "too few cores on " + node.name;
  const MiB memory = std::max({r.memory_per_node, r.memory_per_gpu * gpus,
                               r.memory_per_core * cpus_of_core * static_cast<MiB>(share.cores)});
  return share.memory < memory ? "too little memory on " + node.name : "";
}

// The end of a running job by its limit; a job past its limit ends at once.
Seconds end_of(const Job& job, Seconds now) { return std::max(job.end_limit, now + 1); }

bool must_not_start(const Job& job) { return job.het || job.block != Block::kNone; }

}  // namespace

const Job* pending_entry(const Snapshot& snapshot, const JobKey& key,
                         const std::string& partition) {
  for (const Job& job : snapshot.jobs) {
    const bool match =
        job.state == JobState::kPending && job.key == key && job.partition == partition;
    if (match) return &job;
  }
  return nullptr;
}

std::string check_gang(const Snapshot& snapshot, const Job& job, const std::string& gpu_type,
                       const std::vector<NodeShare>& shares) {
  const Request& r = job.request;
  const auto nodes = static_cast<std::int64_t>(shares.size());
  if (nodes < std::max(r.min_nodes, 1)) return "fewer nodes than it asks for";
  if (r.max_nodes > 0 && nodes > r.max_nodes) return "more nodes than it asks for";
  if (!r.gpu_type.empty() && gpu_type != r.gpu_type) return "another GPU type than it asks for";
  std::int64_t gpus = 0;
  std::int64_t cores = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const NodeShare& share = shares[i];
    if (i > 0 && shares[i - 1].node >= share.node) return "shares are not sorted by node";
    for (const GpuCount& group : share.gpus) {
      if (group.type == gpu_type || gpu_type.empty()) gpus += group.count;
    }
    cores += share.cores;
  }
  const bool more = r.whole_nodes;
  if (r.gpus > 0 && (more ? gpus < r.gpus : gpus != r.gpus)) return "not the GPUs it asks for";
  if (r.gpus_per_node > 0 && gpus < r.gpus_per_node * nodes) return "too few GPUs a node";
  if (cores * std::max(r.threads, 1) < r.cores) return "too few cores";
  for (const NodeShare& share : shares) {
    std::string wrong = check_share(snapshot, job, gpu_type, share, nodes, gpus);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// True if its hint `gpu-types` contains the type, or if it has no such hint.
bool accepts(const Job& job, const std::string& gpu_type) {
  if (!job.hints || job.hints->gpu_types.empty() || !job.request.gpu_type.empty()) return true;
  return std::any_of(job.hints->gpu_types.begin(), job.hints->gpu_types.end(), [&](const auto& g) {
    return std::find(g.begin(), g.end(), gpu_type) != g.end();
  });
}

std::string check_starts(const Snapshot& snapshot, const Plan& plan) {
  std::vector<Free> free = free_now(snapshot);
  for (const Start& start : plan.starts) {
    const Job* job = pending_entry(snapshot, start.job, start.partition);
    if (job == nullptr) return "starts a job that does not wait";
    const std::string who = "job " + job->label + ": ";
    if (must_not_start(*job)) return who + "must not start";
    if (start.managed != job->managed) return who + "managed is wrong";
    if (start.shares.empty()) continue;
    if (!job->managed) return who + "names nodes for an unmanaged job";
    std::optional<Job> sized;
    if (start.gpus > 0) {
      auto other = at_size(*job, start.gpus, start.gpu_type);
      if (!other) return who + other.error().text;
      sized = std::move(*other);
    }
    const std::string wrong =
        check_gang(snapshot, sized ? *sized : *job, start.gpu_type, start.shares);
    if (!wrong.empty()) return who + wrong;
    const bool typed = job->request.wants_gpus() && !start.on_cpus;
    if (typed && !accepts(*job, start.gpu_type))
      return who + "a GPU type that its hint does not name";
    const NodeSet& allowed = set_of(snapshot, job->node_set);
    for (const NodeShare& share : start.shares) {
      const Node& node = snapshot.nodes.at(share.node);
      Free& on = free.at(share.node);
      if (!std::binary_search(allowed.begin(), allowed.end(), share.node)) {
        return who + "not in its node set: " + node.name;
      }
      if (!node.usable) return who + "not usable: " + node.name;
      if (job->request.whole_nodes && !entirely_free(node, on))
        return who + "not whole: " + node.name;
      on.add(share, -1);
      if (on.negative()) return who + "more than is free on " + node.name;
    }
  }
  return "";
}

std::string check_reservations(const Snapshot& snapshot, const Plan& plan) {
  const Seconds now = plan.made;
  std::set<Seconds> moments;
  const auto begin = [&](const Reservation& r) { return std::max(r.start, now + 1); };
  for (const Reservation& r : plan.reservations) {
    const Job* job = pending_entry(snapshot, r.job, r.partition);
    if (job == nullptr) return "a reservation for a job that does not wait";
    const std::string wrong = check_gang(snapshot, *job, r.gpu_type, r.shares);
    if (!wrong.empty()) return "reservation of job " + job->label + ": " + wrong;
    if (r.start < kForever) moments.insert(begin(r));
  }
  for (const Seconds moment : moments) {
    std::vector<Free> free = free_now(snapshot);
    for (const Job& job : snapshot.jobs) {
      if (job.state != JobState::kRunning || end_of(job, now) > moment) continue;
      for (const NodeShare& share : job.allocation) free.at(share.node).add(share, 1);
    }
    for (const Start& start : plan.starts) {
      const Job* job = pending_entry(snapshot, start.job, start.partition);
      if (add_seconds(now, limit_of(start, *job)) <= moment) continue;
      for (const NodeShare& share : start.shares) free.at(share.node).add(share, -1);
    }
    for (const Reservation& r : plan.reservations) {
      const Job* job = pending_entry(snapshot, r.job, r.partition);
      const bool holds = r.start < kForever && begin(r) <= moment &&
                         add_seconds(std::max(r.start, now), job->time_limit) > moment;
      if (!holds) continue;
      for (const NodeShare& share : r.shares) {
        Free& on = free.at(share.node);
        on.add(share, -1);
        if (on.negative()) {
          return fmt::format("reservation of job {} at +{} s lacks room on node {} at +{} s",
                             job->label, r.start - now, share.node, moment - now);
        }
      }
    }
  }
  return "";
}

// Takes resources of the nodes, or gives them back (sign -1).
static void take(Snapshot& snapshot, const std::vector<NodeShare>& shares, int sign) {
  for (const NodeShare& share : shares) {
    Node& node = snapshot.nodes.at(share.node);
    node.cores_free -= sign * share.cores;
    node.memory_free -= sign * share.memory;
    for (const GpuCount& group : share.gpus) {
      for (GpuGroup& on : node.gpus) on.free -= on.type == group.type ? sign * group.count : 0;
    }
  }
}

static void requeue(Job& job, Seconds now) {
  job.key.submit = now;
  job.start = now;
  ++job.restarts;
}

static void apply_changes(const Plan& plan, Snapshot& next) {
  for (const Change& change : plan.changes) {
    Job& job = *std::ranges::find(next.jobs, change.job, &Job::key);
    take(next, job.allocation, -1);
    job.allocation = change.shares;
    job.plan = change.plan;
    job.batch_size = change.batch;
    take(next, job.allocation, 1);
    if (change.action == ChangeAction::kRestart) requeue(job, plan.made);
    if (change.action != ChangeAction::kStop) continue;
    requeue(job, plan.made);
    job.state = JobState::kPending;
    job.node_set = job.later_set;
    job.eligible = plan.made;
  }
}

Snapshot apply(const Snapshot& snapshot, const Plan& plan) {
  constexpr JobId kTaskIds = 10'000;
  Snapshot next = snapshot;
  next.memory = plan.memory;
  apply_changes(plan, next);
  JobId task = 0;
  for (const Start& start : plan.starts) {
    if (start.shares.empty()) continue;
    Job running = *pending_entry(snapshot, start.job, start.partition);
    // Tasks of an array after the first get their own ids, as in slurmctld.
    const bool more = std::any_of(next.jobs.begin(), next.jobs.end(), [&](const Job& job) {
      return job.state == JobState::kRunning && job.key == start.job;
    });
    if (more) running.key.id = kTaskIds + ++task + static_cast<JobId>(plan.round) * kTaskIds;
    running.state = JobState::kRunning;
    running.rank = 0;
    running.start = plan.made;
    running.time_limit = limit_of(start, running);
    running.end_limit = add_seconds(plan.made, running.time_limit);
    running.allocation = start.shares;
    std::erase_if(next.jobs, [&](const Job& job) {
      return job.state == JobState::kPending && job.key == start.job;
    });
    take(next, start.shares, 1);
    next.jobs.push_back(std::move(running));
  }
  std::sort(next.jobs.begin(), next.jobs.end(), [](const Job& a, const Job& b) {
    const auto key = [](const Job& j) { return std::tuple(j.state, j.rank, j.key); };
    return key(a) < key(b);
  });
  return next;
}

Snapshot advance(Snapshot snapshot, Seconds time) {
  snapshot.taken = time;
  std::erase_if(snapshot.jobs, [&](const Job& job) {
    if (job.state != JobState::kRunning || job.end_limit > time) return false;
    take(snapshot, job.allocation, -1);
    return true;
  });
  return snapshot;
}

}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/asked_resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/policy/algorithms/change_costs.h"
#include "lib/policy/algorithms/explainer.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/kept_place.h"
#include "lib/policy/round.h"

namespace rubato {
namespace {

GpuGroup* group_of(Node& node, const std::string& type) {
  const auto at = std::ranges::find(node.gpus, type, &GpuGroup::type);
  return at != node.gpus.end() ? &*at : nullptr;
}

void release(Snapshot& snapshot, const std::vector<NodeShare>& shares) {
  for (const NodeShare& share : shares) {
    Node& node = snapshot.nodes[share.node];
    node.cores_free = std::min(node.cores_free + share.cores, node.cores);
    node.memory_free = std::min(node.memory_free + share.memory, node.memory);
    for (const GpuCount& gpus : share.gpus)
      if (GpuGroup* const group = group_of(node, gpus.type))
        group->free = std::min(group->free + gpus.count, group->total);
  }
}

// Takes what is free of `shares`, and returns it.
std::vector<NodeShare> occupy(Snapshot& snapshot, std::vector<NodeShare> shares) {
  for (NodeShare& share : shares) {
    Node& node = snapshot.nodes[share.node];
    share.cores = std::min(share.cores, node.cores_free);
    share.memory = std::min(share.memory, node.memory_free);
    node.cores_free -= share.cores;
    node.memory_free -= share.memory;
    for (GpuCount& gpus : share.gpus) {
      GpuGroup* const group = group_of(node, gpus.type);
      gpus.count = group != nullptr ? std::min(gpus.count, group->free) : 0;
      if (group != nullptr) group->free -= gpus.count;
    }
    std::erase_if(share.gpus, [](const GpuCount& gpus) { return gpus.count == 0; });
  }
  std::erase_if(shares, [](const NodeShare& share) {
    return share.gpus.empty() && share.cores == 0 && share.memory == 0;
  });
  return shares;
}

// First in the queue, with the wished size as its request and its only size. It was in the queue
// before the others and had its turn, so levels do not move it back.
void pin(Job& job, int gpus, const std::string& gpu_type) {
  if (auto sized = at_size(job, gpus, gpu_type)) job = *std::move(sized);
  job.rank = std::numeric_limits<int>::min();
  job.priority_set = true;
  if (job.hints) job.hints->sizes = GpuSizes({{gpus, gpus}});
}

// Holds the place of a job until `end`: before its requeue, and from then on until it is eligible.
Job obstacle(const AskedResize& restart, std::vector<NodeShare> shares, Seconds now, Seconds end) {
  Job job;
  job.key = {restart.job.id, restart.requeued};
  job.label = std::to_string(restart.job.id);
  job.state = JobState::kRunning;
  job.start = now;
  job.end_limit = end;
  job.time_limit = end - now;
  job.allocation = std::move(shares);
  job.request.gpus = held_gpus(job);
  return job;
}

std::vector<NodeShare> beyond_held(std::vector<NodeShare> shares, const Job& job) {
  for (NodeShare& share : shares) share = beyond(share, share_on(job.allocation, share.node));
  return shares;
}

// The job will run in its place for its time limit. A start that was promised there before it
// stays: then the restart is refused after the lead time, not the promise moved.
Seconds end_of_place(const Snapshot& snapshot, const AskedResize& restart, const Job& job) {
  Seconds end = add_seconds(snapshot.taken, job.time_limit);
  for (const Reservation& promise : snapshot.memory.reservations) {
    const bool there = std::ranges::any_of(promise.shares, [&](const NodeShare& share) {
      return std::ranges::find(restart.shares, share.node, &NodeShare::node) !=
             restart.shares.end();
    });
    if (there && promise.job.id != restart.job.id) end = std::min(end, promise.start);
  }
  return end;
}

// During its lead time the job runs on. What it needs beside its own GPUs is taken already, as far
// as it is free, so that no other job starts there.
void hold_early(Snapshot& snapshot, const AskedResize& restart) {
  const auto job = std::ranges::find_if(snapshot.jobs, [&](const Job& one) {
    return one.key == restart.job && one.state == JobState::kRunning &&
           one.restarts == restart.runs;
  });
  if (job == snapshot.jobs.end()) return;
  const Seconds end = end_of_place(snapshot, restart, *job);
  if (end <= snapshot.taken) return;
  std::vector<NodeShare> shares =
      occupy(snapshot, restart.live ? restart.shares : beyond_held(restart.shares, *job));
  if (shares.empty()) return;
  snapshot.jobs.push_back(obstacle(restart, std::move(shares), snapshot.taken, end));
}

// Of a growth, `shares` are what the job gets beside its own; of a shrink, what it keeps.
bool held_early(const AskedResize& restart) {
  const bool shrinks = restart.live && restart.gpus < restart.from;
  return restart.step == ResizeStep::kSaving && !shrinks && !restart.shares.empty();
}

bool kept(const AskedResize& restart, Seconds now) {
  return restart.step == ResizeStep::kRequeued && restart.gpus > 0 && now < restart.due;
}

bool waits(const Job& job, const AskedResize& restart) {
  if (restart.starts) return job.state == JobState::kPending && job.key == restart.job;
  return job.state == JobState::kPending && job.key.id == restart.job.id &&
         job.restarts > restart.runs;
}

// Where the running job may get GPUs now, until `end`: where Slurm would start it, and where no
// reservation of Slurm begins before `end`. Slurm was asked for the whole time limit.
NodeSetIndex open_now(Snapshot& snapshot, const Job& job, Seconds end) {
  const auto set = [&](NodeSetIndex index) {
    return index.within(snapshot.node_sets.size()) ? snapshot.node_sets[index] : NodeSet();
  };
  NodeSet open = set(job.later_set);
  for (const ReservationWindow& window : snapshot.windows) {
    if (window.end <= snapshot.taken || window.start >= end) continue;
    NodeSet rest;
    std::ranges::set_difference(open, set(window.node_set), std::back_inserter(rest));
    open = std::move(rest);
  }
  NodeSet all;
  std::ranges::set_union(open, set(job.node_set), std::back_inserter(all));
  snapshot.node_sets.push_back(std::move(all));
  return NodeSetIndex(snapshot.node_sets.size() - 1);
}

// The running job waits, as after a requeue, and its GPUs are free.
Result<Job> requeued(Snapshot& snapshot, const JobKey& key) {
  const auto at = std::ranges::find_if(snapshot.jobs, [&](const Job& job) {
    return job.key == key && job.state == JobState::kRunning;
  });
  if (at == snapshot.jobs.end()) return fail("the job does not run");
  Job job = std::move(*at);
  snapshot.jobs.erase(at);
  release(snapshot, job.allocation);
  job.state = JobState::kPending;
  job.node_set = open_now(snapshot, job, add_seconds(snapshot.taken, job.time_limit));
  job.allocation.clear();
  job.start = job.end_limit = 0;
  job.eligible = std::min(job.eligible, snapshot.taken);
  return job;
}

// Makes it the only waiting job, so that no other job gets the GPUs that it gives back. The time
// limit begins anew. What is reserved for others within the time limit counts as taken.
void wait_alone(Snapshot& snapshot, Job job, Seconds now) {
  const Seconds end = add_seconds(now, job.time_limit);
  for (const Reservation& reservation : std::exchange(snapshot.memory.reservations, {}))
    if (reservation.job.id != job.key.id && reservation.start < end)
      occupy(snapshot, reservation.shares);
  std::erase_if(snapshot.jobs, [](const Job& one) { return one.state == JobState::kPending; });
  snapshot.jobs.insert(snapshot.jobs.begin(), std::move(job));
}

bool may_use(const Snapshot& snapshot, const Job& job, const std::vector<NodeShare>& shares) {
  if (!job.node_set.within(snapshot.node_sets.size())) return false;
  const NodeSet& nodes = snapshot.node_sets[job.node_set];
  return std::ranges::all_of(shares, [&](const NodeShare& share) {
    return std::ranges::binary_search(nodes, share.node);
  });
}

// Makes its place a reservation that is due, so that other reservations cannot move there.
void reserve_place(Snapshot& snapshot, const Job& job, const AskedResize& restart) {
  std::vector<Reservation>& all = snapshot.memory.reservations;
  std::erase_if(all, [&](const Reservation& one) { return one.job.id == job.key.id; });
  Reservation place;
  place.job = job.key;
  place.partition = job.partition;
  place.start = snapshot.taken;
  place.made = restart.requeued;
  place.reason = ReserveReason::kStarvation;
  place.gpu_type = restart.gpu_type;
  place.shares = restart.shares;
  const auto at = std::ranges::find_if(all, [&](const Reservation& one) {
    return std::tie(one.job, one.partition) > std::tie(place.job, place.partition);
  });
  all.insert(at, std::move(place));
}

// Other jobs have to leave the place first, and will.
bool is_being_freed(const Snapshot& snapshot, const AskedResize& restart) {
  return !is_free(restart.shares, snapshot) && has_place(restart, snapshot, snapshot.memory);
}

// After the requeue: the job waits in its place, or an obstacle holds it until it does. A place
// that others still have to leave is no reservation: that would move to the time of their limits,
// and what is free of the place would go to others.
void hold_place(Snapshot& snapshot, const AskedResize& restart) {
  bool there = false;
  std::optional<Job> ready;
  const bool early = is_being_freed(snapshot, restart);
  for (Job& job : snapshot.jobs) {
    there = there || (job.key.id == restart.job.id && job.state == JobState::kRunning);
    if (!waits(job, restart)) continue;
    pin(job, restart.gpus, restart.gpu_type);
    if (job.block != Block::kNone) continue;
    if (early) {
      job.block = Block::kPlace;
      continue;
    }
    // A job of several partitions has an entry for each.
    const bool fits = may_use(snapshot, job, restart.shares);
    if (!ready || (fits && !may_use(snapshot, *ready, restart.shares))) ready = job;
  }
  if (ready && may_use(snapshot, *ready, restart.shares)) reserve_place(snapshot, *ready, restart);
  if (there || ready || (restart.starts && !early)) return;
  std::vector<NodeShare> shares = occupy(snapshot, restart.shares);
  snapshot.jobs.push_back(obstacle(restart, std::move(shares), snapshot.taken, restart.due));
}

const Explanation* explanation_of(const Plan& plan, const JobKey& job) {
  const auto at = std::ranges::find(plan.explanations, job, &Explanation::job);
  return at != plan.explanations.end() ? &*at : nullptr;
}

// What round() decides about `job`, the only one that waits in `next`.
Result<Start> start_alone(Snapshot next, Job job, const RestartWish& wish, const Models& models,
                          const Config& config, Seconds now) {
  const JobKey key = job.key;
  pin(job, wish.gpus, wish.gpu_type);
  wait_alone(next, std::move(job), now);
  Config placing = config;  // this job alone is decided about
  placing.mode = Mode::kPlace;
  const Plan plan = round(next, models, placing, now);
  for (Start start : plan.starts) {
    if (start.job != key || !start.managed || start.shares.empty()) continue;
    start.gpus = wish.gpus;
    return start;
  }
  const Explanation* const told = explanation_of(plan, key);
  if (told == nullptr) return fail("no nodes for it");
  const std::string& reason = told->reason;
  return fail(reason.starts_with(kSlurmIsAsked) ? reason.substr(kSlurmIsAsked.size()) : reason);
}

NodeSetIndex set_within(Snapshot& snapshot, NodeSetIndex set, const std::vector<NodeIndex>& only) {
  NodeSet within;
  if (set.within(snapshot.node_sets.size()))
    std::ranges::set_intersection(snapshot.node_sets[set], only, std::back_inserter(within));
  snapshot.node_sets.push_back(std::move(within));
  return NodeSetIndex(snapshot.node_sets.size() - 1);
}

void close(AskedResize& restart, ResizeStep step, std::string words, Seconds now) {
  restart.step = step;
  restart.since = restart.due = now;
  restart.shares.clear();
  restart.words = std::move(words);
}

void follow_saving(AskedResize& restart, const Job* job, Seconds now) {
  if (job == nullptr) return close(restart, ResizeStep::kFailed, "the job ended", now);
  if (job->restarts > restart.runs)
    close(restart, ResizeStep::kFailed, "the job was requeued meanwhile", now);
}

void follow_requeued(AskedResize& restart, const Job* job, Seconds now) {
  if (job != nullptr && job->state == JobState::kRunning) {
    const int gpus = held_gpus(*job);
    if (gpus == restart.gpus || restart.gpus == 0)
      return close(restart, ResizeStep::kDone, "", now);
    return close(restart, ResizeStep::kFailed, fmt::format("it started with {} GPUs", gpus), now);
  }
  if (restart.starts && (job == nullptr || job->block != Block::kNone))
    return close(restart, ResizeStep::kFailed,
                 job == nullptr ? "the job is not there any more" : "Slurm does not let it start",
                 now);
  if (now < restart.due) return;
  if (job != nullptr && restart.gpus == 0) return close(restart, ResizeStep::kDone, "", now);
  close(restart, ResizeStep::kFailed,
        job != nullptr ? "its place was kept long enough; it starts as any other job"
                       : "the job is not there any more",
        now);
}

// A waiting job whose place does not become free may start elsewhere.
void follow_place(AskedResize& place, const Memory& memory, Seconds now) {
  const bool lost = std::ranges::any_of(memory.asked_resizes, [&](const AskedResize& one) {
    return one.step == ResizeStep::kFailed &&
           std::ranges::binary_search(place.after, one.job.id, {}, &JobKey::id);
  });
  if (place.starts && lost) close(place, ResizeStep::kFailed, "its place did not become free", now);
}

}  // namespace

std::string why_never_restarted(const Job& job) {
  if (job.state != JobState::kRunning) return "the job does not run";
  if (!job.managed) return "Rubato does not manage the job";
  if (!job.batch) return "an interactive job is never restarted";
  if (job.het) return "a part of a heterogeneous job is never restarted";
  if (!job.hints) return "the job has no hints, so it did not consent to a restart";
  if (!job.hints->checkpoint.consents())
    return "the job did not consent to a restart; the hint for that is checkpoint=SIGNAL";
  if (job.hints->resize == Resize::kNone)
    return "its size stays; the hint that allows another one is resize=restart";
  if (!job.size_bound.empty()) return job.size_bound;
  return "";
}

Result<Start> start_after_restart(const Snapshot& snapshot, const Models& models,
                                  const Config& config, const JobKey& key, const RestartWish& wish,
                                  Seconds now) {
  Snapshot next = snapshot;
  auto job = requeued(next, key);
  if (!job) return tl::unexpected(job.error());
  if (const auto sized = at_size(*job, wish.gpus, wish.gpu_type); !sized)
    return tl::unexpected(sized.error());
  return start_alone(std::move(next), *std::move(job), wish, models, config, now);
}

Result<Job> part_beside(const Job& job, const RestartWish& wish, Seconds now) {
  Job more = job;
  more.key.id = std::numeric_limits<JobId>::max();
  more.state = JobState::kPending;
  more.allocation.clear();
  more.time_limit = std::max<Seconds>(more.end_limit - now, 1);
  more.start = more.end_limit = 0;
  more.eligible = std::min(more.eligible, now);
  if (more.hints) more.hints->sizes = GpuSizes({{wish.gpus, wish.gpus}});
  auto sized = at_size(more, wish.gpus, wish.gpu_type);
  if (sized) sized->request.tasks = 0;  // its tasks run already; a growth starts none
  return sized;
}

Result<Start> start_beside(const Snapshot& snapshot, const Models& models, const Config& config,
                           const JobKey& key, const RestartWish& wish,
                           const std::vector<NodeIndex>* only, Seconds now) {
  const auto at = std::ranges::find(snapshot.jobs, key, &Job::key);
  if (at == snapshot.jobs.end() || at->state != JobState::kRunning)
    return fail("the job does not run");
  auto more = part_beside(*at, wish, now);
  if (!more) return tl::unexpected(more.error());
  Snapshot next = snapshot;
  more->node_set = open_now(next, *at, add_seconds(now, more->time_limit));
  if (only != nullptr) more->node_set = set_within(next, more->node_set, *only);
  return start_alone(std::move(next), *std::move(more), wish, models, config, now);
}

std::optional<Snapshot> with_restarts(const Snapshot& snapshot) {
  std::optional<Snapshot> next;
  for (const AskedResize& restart : snapshot.memory.asked_resizes) {
    const bool early = held_early(restart);
    if (!early && !kept(restart, snapshot.taken)) continue;
    if (!next) next = snapshot;
    if (early)
      hold_early(*next, restart);
    else
      hold_place(*next, restart);
  }
  if (!next) return std::nullopt;
  const auto runs = [](const Job& job) { return job.state == JobState::kRunning; };
  std::ranges::stable_sort(next->jobs, [&](const Job& a, const Job& b) {
    if (runs(a) != runs(b)) return runs(b);
    return !runs(a) ? a.rank < b.rank : a.key < b.key;
  });
  return next;
}

void pin_starts(const Memory& memory, Plan& plan) {
  for (const AskedResize& restart : memory.asked_resizes)
    for (Start& start : plan.starts)
      if (kept(restart, plan.made) && start.job.id == restart.job.id) {
        start.gpus = restart.gpus;
        start.elsewhere = false;
      }
}

const Job* job_of(const AskedResize& restart, const Snapshot& snapshot) {
  for (const Job& job : snapshot.jobs) {
    if (job.key == restart.job) return &job;
    if (job.key.id == restart.job.id && job.restarts > restart.runs) return &job;
  }
  return nullptr;
}

void keep_resize(Memory& memory, AskedResize restart) {
  std::erase_if(memory.asked_resizes,
                [&](const AskedResize& one) { return one.job.id == restart.job.id; });
  note_progress(restart, progress_of(memory, restart.job));
  const auto at =
      std::ranges::lower_bound(memory.asked_resizes, restart.job, {}, &AskedResize::job);
  memory.asked_resizes.insert(at, std::move(restart));
}

std::vector<AskedResize> follow_resizes(Memory& memory, const Snapshot& snapshot) {
  const Seconds now = snapshot.taken;
  std::vector<AskedResize> closed;
  for (AskedResize& restart : memory.asked_resizes) {
    if (restart.over()) continue;
    const Job* const job = job_of(restart, snapshot);
    if (restart.step == ResizeStep::kSaving) follow_saving(restart, job, now);
    if (restart.step == ResizeStep::kRequeued) follow_requeued(restart, job, now);
    if (!restart.over()) follow_place(restart, memory, now);
    if (restart.over()) closed.push_back(restart);
  }
  std::erase_if(memory.asked_resizes, [&](const AskedResize& restart) {
    const Seconds took = restart.since - restart.asked;  // until next_try() it counts
    const Seconds keep = kResizeKeep + (restart.step == ResizeStep::kFailed ? took : 0);
    return restart.over() && now - restart.since >= keep && !awaits_cost(restart, now);
  });
  return closed;
}

std::vector<AskedResize> measure_changes(Memory& memory, const Snapshot& snapshot,
                                         const Config& config) {
  std::vector<AskedResize> measured;
  if (config.off(Mechanism::kChangeCosts)) return measured;
  for (AskedResize& change : memory.asked_resizes) {
    if (!awaits_cost(change, snapshot.taken)) continue;
    const Job* const job = job_of(change, snapshot);
    if (job == nullptr) continue;
    const auto cost = cost_shown(change, *job, progress_of(memory, job->key));
    if (!cost) continue;
    change.measured = true;
    change.cost = *cost;
    fold_cost(profile_of(*job, config), change.live, *cost, snapshot.taken, memory.change_costs);
    measured.push_back(change);
  }
  return measured;
}

}  // namespace rubato

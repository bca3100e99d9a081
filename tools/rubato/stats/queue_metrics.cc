// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/queue_metrics.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace rubato::tools {
namespace {

/// GPUs of one type, and the jobs that wait for them.
struct TypeFacts {
  std::int64_t total = 0;
  std::int64_t held = 0;     ///< allocated to jobs
  std::int64_t free = 0;     ///< on nodes where jobs may start
  std::int64_t managed = 0;  ///< held by running managed jobs
  std::int64_t asked = 0;    ///< requested by waiting jobs
  Seconds oldest_wait = 0;
};

/// By GPU type.
using FactsByType = std::map<std::string, TypeFacts>;

FactsByType facts_of_nodes(const std::vector<Node>& nodes) {
  FactsByType types;
  for (const Node& node : nodes) {
    for (const GpuGroup& group : node.gpus) {
      TypeFacts& facts = types[group.type];
      facts.total += group.total;
      facts.held += group.total - group.free;
      if (node.usable) facts.free += group.free;
    }
  }
  return types;
}

/// Slurm lets it start: what it waits for is room.
bool waits_for_room(const Job& job) {
  return job.state == JobState::kPending && job.request.wants_gpus() &&
         (job.block == Block::kNone || job.block == Block::kLeftOut);
}

void count_managed(FactsByType& types, const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    if (job.state != JobState::kRunning || !job.managed) continue;
    for (const NodeShare& share : job.allocation)
      for (const GpuCount& group : share.gpus) types[group.type].managed += group.count;
  }
}

void count_waiting(FactsByType& types, const Snapshot& snapshot) {
  types.try_emplace(kAnyType);
  std::set<JobKey> counted;  // a job of several partitions has several entries
  for (const Job& job : snapshot.jobs) {
    if (!waits_for_room(job) || !counted.insert(job.key).second) continue;
    const Request& request = job.request;
    TypeFacts& facts = types[request.gpu_type.empty() ? kAnyType : request.gpu_type];
    const std::int64_t tasks = std::max(1, job.tasks);
    facts.asked += tasks * request.gpus_on(std::max(1, request.min_nodes));
    facts.oldest_wait = std::max(facts.oldest_wait, snapshot.taken - job.eligible);
  }
}

std::string type_of(const Reservation& reservation) {
  const bool gpus = std::any_of(reservation.shares.begin(), reservation.shares.end(),
                                [](const NodeShare& share) { return share.gpu_count() > 0; });
  return gpus ? reservation.gpu_type : kNoType;
}

}  // namespace

void add_queue_metrics(MetricText& text, const Snapshot& snapshot, bool jobs_known) {
  FactsByType types = facts_of_nodes(snapshot.nodes);
  if (types.empty()) return;
  const auto gauge = [&](const char* name, const char* help, auto TypeFacts::*fact) {
    text.family(name, kGauge, help);
    for (const auto& [type, facts] : types)
      text.sample(static_cast<double>(facts.*fact), {{"gpu_type", type}});
  };
  gauge("rubato_gpus", "GPUs of a type", &TypeFacts::total);
  gauge("rubato_gpus_held", "GPUs of a type that are allocated to jobs", &TypeFacts::held);
  gauge("rubato_gpus_free", "Free GPUs of a type on nodes where jobs may start", &TypeFacts::free);
  if (!jobs_known) return;
  count_managed(types, snapshot.jobs);
  gauge("rubato_gpus_managed", "GPUs of a type held by running managed jobs", &TypeFacts::managed);
  count_waiting(types, snapshot);
  gauge("rubato_gpus_asked", "GPUs of a type requested by waiting jobs that Slurm lets start",
        &TypeFacts::asked);
  gauge("rubato_oldest_wait_seconds",
        "Longest time that such a job has waited since it became eligible",
        &TypeFacts::oldest_wait);
}

void add_promise_metrics(MetricText& text, const std::vector<Reservation>& reservations) {
  struct Promises {
    int kept = 0;
    int moved = 0;
  };
  std::map<std::string, Promises> types;
  Seconds longest = 0;
  for (const Reservation& one : reservations) {
    if (one.promised <= 0) continue;
    Promises& of_type = types[type_of(one)];
    const Seconds delay = std::max<Seconds>(0, one.start - one.promised);
    ++(delay > 0 ? of_type.moved : of_type.kept);
    longest = std::max(longest, delay);
  }
  // A series that is 0 where nothing is promised, so that rules find one.
  if (types.empty()) types.try_emplace(kNoType);
  text.family("rubato_promised_starts", kGauge,
              "Waiting jobs with a promised start, by whether it is kept or has moved");
  for (const auto& [type, promises] : types) {
    text.sample(promises.kept, {{"gpu_type", type}, {"state", "kept"}});
    text.sample(promises.moved, {{"gpu_type", type}, {"state", "moved"}});
  }
  text.single("rubato_promised_start_delay_seconds", kGauge,
              "Longest time by which a reserved start is later than promised",
              static_cast<double>(longest));
}

}  // namespace rubato::tools

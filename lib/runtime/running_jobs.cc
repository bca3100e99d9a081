// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/running_jobs.h"

#include <algorithm>

#include "lib/json/task_env.h"

namespace rubato {

namespace {

int gpus_of(const Job& job) {
  int gpus = 0;
  for (const NodeShare& share : job.allocation) gpus += share.gpu_count();
  return gpus;
}

RunFacts facts_of(const Job& job) {
  RunFacts facts;
  facts.account = job.account;
  facts.partition = job.partition;
  facts.plan = plan_of(job);
  facts.held = held_gpus(job.allocation);
  facts.restarts = job.restarts;
  facts.eligible = job.eligible;
  facts.start = job.start;
  facts.counted = job.start;
  return facts;
}

// Service since the last snapshot, at the size held until then.
double count_service(RunFacts& facts, Seconds now) {
  const Seconds span = std::max<Seconds>(0, now - facts.counted);
  facts.counted = std::max(facts.counted, now);
  const double served = static_cast<double>(span) * facts.held.gpus;
  facts.attained += served;
  return facts.managed ? served : 0;
}

void follow(const Job& job, RunFacts& facts) {
  facts.managed = job.managed;
  facts.time_limit = job.time_limit;
  facts.nodes = static_cast<int>(job.allocation.size());
  facts.cores = 0;
  facts.memory = 0;
  for (const NodeShare& share : job.allocation) {
    facts.cores += share.cores;
    facts.memory += share.memory;
  }
  const std::string& type = job.hints ? job.hints->job_type : std::string();
  if (facts.job_type != type) facts.job_type = type;
  facts.work = job.hints ? job.hints->work : std::nullopt;
  facts.batch = job.hints ? job.hints->batch : std::nullopt;
  if (gpus_of(job) != facts.held.gpus) facts.held = held_gpus(job.allocation);
}

}  // namespace

RunningJobs::RunChanges RunningJobs::update(const Snapshot& snapshot) {
  RunChanges change;
  std::vector<JobKey> here;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning) continue;
    here.push_back(job.key);
    auto [at, fresh] = runs_.try_emplace(job.key);
    RunFacts& facts = at->second;
    // The same key with another start is another run: seen so when a job is requeued by hand.
    if (fresh || facts.start != job.start) {
      facts = facts_of(job);
      facts.managed = job.managed;
      // What it held before this snapshot is its own, but not of this span.
      (void)count_service(facts, snapshot.taken);
      change.fresh.push_back(job.key);
    } else {
      change.gpu_seconds += count_service(facts, snapshot.taken);
    }
    facts.left = 0;
    follow(job, facts);
  }
  std::sort(here.begin(), here.end());
  for (auto at = runs_.begin(); at != runs_.end();) {
    RunFacts& facts = at->second;
    const bool gone = !std::binary_search(here.begin(), here.end(), at->first);
    if (gone && facts.left == 0) {
      change.gpu_seconds += count_service(facts, snapshot.taken);
      facts.left = std::max<Seconds>(snapshot.taken, 1);
      change.left.push_back(at->first);
    }
    if (gone && snapshot.taken - facts.left > kKeepLeft)
      at = runs_.erase(at);
    else
      ++at;
  }
  return change;
}

RunFacts* RunningJobs::find(const JobKey& key) {
  const auto at = runs_.find(key);
  return at != runs_.end() ? &at->second : nullptr;
}

}  // namespace rubato

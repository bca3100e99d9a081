// SPDX-License-Identifier: GPL-2.0-or-later
// What holds for every plan of mode elastic about interruptions that an admin forbids.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "lib/json/json.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/round.h"
#include "test/support/gen_elastic.h"

namespace rubato::test {
namespace {

// The jobs that change if nothing forbids it.
std::set<JobKey> changing_jobs(const Plan& plan) {
  std::set<JobKey> jobs;
  for (const Change& change : plan.changes) jobs.insert(change.job);
  return jobs;
}

RC_GTEST_PROP(ChangeBoundsProperty, no_plan_changes_an_exempt_job, ()) {
  Snapshot snapshot = anything();
  const Models models = gen_learnt();
  Config config = elastic();
  const std::set<JobKey> would = changing_jobs(round(snapshot, models, config, kNow));
  config.min_run_time = gen_chance(50) ? gen_int(0, 7200) : 0;
  for (Job& job : snapshot.jobs) {
    if (job.state == JobState::kRunning && gen_chance(50)) job.exempt_until = kNow + gen_int(-9, 9);
  }
  const Plan plan = round(snapshot, models, config, kNow);
  int exempt = 0;
  for (const Job& job : snapshot.jobs) {
    const bool young = config.min_run_time > 0 && job.start + config.min_run_time > kNow;
    if (job.state != JobState::kRunning || !(job.exempt_until > kNow || young)) continue;
    RC_ASSERT(std::ranges::find(plan.changes, job.key, &Change::job) == plan.changes.end());
    exempt += would.contains(job.key) ? 1 : 0;
  }
  RC_CLASSIFY(exempt > 0, "an exempt job would have changed");
}

// What the options could change is set to its default explicitly, or is over.
RC_GTEST_PROP(ChangeBoundsProperty, times_that_are_over_change_no_plan, ()) {
  Snapshot snapshot = anything();
  const Models models = gen_learnt();
  Config config = elastic();
  const Plan before = round(snapshot, models, config, kNow);
  for (Job& job : snapshot.jobs) {
    if (job.state == JobState::kRunning) job.exempt_until = gen_chance(50) ? kNow : job.start;
  }
  config.min_run_time = 0;
  RC_ASSERT(to_json(round(snapshot, models, config, kNow), snapshot) == to_json(before, snapshot));
}

// Of the user's restarts today some may be counted, and some planned.
RC_GTEST_PROP(ChangeBoundsProperty, no_plan_exceeds_a_cap_on_restarts, ()) {
  Snapshot snapshot = anything();
  const Models models = gen_learnt();
  Config config = elastic();
  config.restarts_per_user_day = gen_int(1, 3);
  config.restarts_per_job = gen_int(0, 2);
  for (Job& job : snapshot.jobs) {
    job.uid = static_cast<std::uint32_t>(gen_int(1, 2));
    if (job.state == JobState::kRunning && gen_chance(30))
      snapshot.memory.restarts.push_back(
          {job.key, gen_int(0, 2), gen_chance(30) ? kNow - 5 : 0, job.restarts, {}});
  }
  std::ranges::sort(snapshot.memory.restarts, {}, &JobRestarts::job);
  const int counted = gen_int(0, 2);
  if (counted > 0) snapshot.memory.user_restarts = {{1, {{kNow - 100, counted}}}};
  const Plan plan = round(snapshot, models, config, kNow);
  std::map<std::uint32_t, int> restarts;
  for (const JobRestarts& record : plan.memory.restarts) {
    const auto job = std::ranges::find(snapshot.jobs, record.job, &Job::key);
    RC_ASSERT(job != snapshot.jobs.end());
    restarts[job->uid] += record.planned > 0 ? 1 : 0;
  }
  int planned_before = 0;
  for (const JobRestarts& record : snapshot.memory.restarts)
    planned_before += record.planned > 0 ? 1 : 0;
  for (const auto& [uid, count] : restarts) {
    const int used = uid == 1 ? counted : 0;
    RC_ASSERT(count + used <= std::max(config.restarts_per_user_day, used + planned_before));
  }
  for (const Change& change : plan.changes) {
    const auto known = std::ranges::find(snapshot.memory.restarts, change.job, &JobRestarts::job);
    const int before = known != snapshot.memory.restarts.end() ? known->count : 0;
    RC_ASSERT(config.restarts_per_job == 0 || change.action == ChangeAction::kNotify ||
              before < config.restarts_per_job);
  }
  RC_CLASSIFY(!plan.changes.empty(), "changes");
}

// GPUs beyond the requests of all jobs of a QOS after the changes and starts of a plan.
std::map<std::string, int> growth_after(const Snapshot& snapshot, const Plan& plan) {
  std::map<std::string, int> growth;
  for (const Job& job : snapshot.jobs) {
    int gpus = held_gpus(job);
    const auto change = std::ranges::find(plan.changes, job.key, &Change::job);
    if (change != plan.changes.end()) gpus = change->gpus;
    if (job.state == JobState::kRunning) growth[job.qos] += beyond_request(job, gpus);
  }
  for (const Start& start : plan.starts) {
    const auto job = std::ranges::find(snapshot.jobs, start.job, &Job::key);
    growth[job->qos] += beyond_request(*job, start.gpus);
  }
  return growth;
}

RC_GTEST_PROP(ChangeBoundsProperty, no_plan_exceeds_the_growth_cap, ()) {
  Snapshot snapshot = anything();
  for (Job& job : snapshot.jobs) {
    if (job.state == JobState::kRunning && job.hints && job.request.gpus > 1 && gen_chance(50))
      job.request.gpus = gen_int(1, job.request.gpus);
  }
  const Models models = gen_learnt();
  Config config = elastic();
  const Plan free = round(snapshot, models, config, kNow);
  config.growth_caps = {{"", gen_int(0, 8)}};
  if (gen_chance(30)) config.growth_caps["high"] = gen_int(0, 8);
  const Plan plan = round(snapshot, models, config, kNow);
  const auto before = growth_after(snapshot, Plan());
  bool cut = false;
  for (const auto& [qos, beyond] : growth_after(snapshot, plan)) {
    const auto named = config.growth_caps.find(qos);
    const int cap = named != config.growth_caps.end() ? named->second : config.growth_caps.at("");
    RC_ASSERT(beyond <= std::max(cap, before.contains(qos) ? before.at(qos) : 0));
    cut = cut || growth_after(snapshot, free)[qos] > cap;
  }
  RC_CLASSIFY(cut, "more growth without the cap");
}

// Caps that are never reached leave the plan as it is, but for the counts.
RC_GTEST_PROP(ChangeBoundsProperty, caps_that_are_not_reached_change_no_plan, ()) {
  const Snapshot snapshot = anything();
  const Models models = gen_learnt();
  Config config = elastic();
  const Plan before = round(snapshot, models, config, kNow);
  config.restarts_per_job = config.restarts_per_job_day = config.restarts_per_user_day = 1'000'000;
  Plan plan = round(snapshot, models, config, kNow);
  plan.memory.restarts.clear();
  RC_ASSERT(to_json(plan, snapshot) == to_json(before, snapshot));
}

}  // namespace
}  // namespace rubato::test

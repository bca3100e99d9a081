// SPDX-License-Identifier: GPL-2.0-or-later
// What holds for every plan of mode elastic about interruptions that an admin forbids.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "lib/json/json.h"
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

}  // namespace
}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
// What holds for every plan of mode elastic: starts and changes together fit (DESIGN P2), hard
// constraints and consent are kept (P3, P6), and the same input gives the same plan (P7).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/json/json.h"
#include "lib/policy/algorithms/configuration_table.h"
#include "lib/policy/algorithms/guarantee.h"
#include "lib/policy/asked_growth.h"
#include "lib/policy/round.h"
#include "test/support/gen_elastic.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

// The snapshot once the changed jobs have left, which its changes wait for again, as jobs.
Snapshot without_changed(Snapshot snapshot, const Plan& plan, std::vector<Job>& changed) {
  for (const Change& change : plan.changes) {
    const auto at = std::ranges::find(snapshot.jobs, change.job, &Job::key);
    RC_ASSERT(at != snapshot.jobs.end());
    for (const NodeShare& share : at->allocation) {
      NodeShare back = share;
      back.cores = -share.cores;
      back.memory = -share.memory;
      for (GpuCount& group : back.gpus) group.count = -group.count;
      occupy(snapshot, back);
    }
    changed.push_back(*at);
    snapshot.jobs.erase(at);
  }
  return snapshot;
}

// Starts of the changed jobs in their new configuration.
Plan as_starts(const Plan& plan, Snapshot& snapshot, const std::vector<Job>& changed) {
  Plan all;
  for (std::size_t i = 0; i < plan.changes.size(); ++i) {
    const Change& change = plan.changes[i];
    if (change.shares.empty()) continue;
    Job job = changed[i];
    job.state = JobState::kPending;
    job.node_set = job.later_set;
    Start start;
    start.job = job.key;
    start.partition = job.partition;
    start.managed = true;
    start.gpu_type = change.gpu_type;
    start.gpus = change.gpus == job.request.gpus ? 0 : change.gpus;
    start.shares = change.shares;
    // One that shrinks live keeps what it has, as one that is told another batch.
    const bool keeps =
        change.action == ChangeAction::kNotify || change.action == ChangeAction::kShrink;
    if (!keeps) {
      all.starts.push_back(start);
    } else {
      for (const NodeShare& share : change.shares) occupy(snapshot, share);
    }
    snapshot.jobs.push_back(job);
  }
  all.starts.insert(all.starts.end(), plan.starts.begin(), plan.starts.end());
  return all;
}

RC_GTEST_PROP(TradeProperty, starts_and_changes_fit_together_and_satisfy_the_requests, ()) {
  const Snapshot snapshot = anything();
  const Plan plan = round(snapshot, gen_learnt(), elastic(), kNow);
  RC_CLASSIFY(!plan.changes.empty(), "changes");
  RC_CLASSIFY(std::ranges::any_of(plan.starts, [](const Start& s) { return !s.after.empty(); }),
              "a start waits for a change");
  std::vector<Job> changed;
  Snapshot freed = without_changed(snapshot, plan, changed);
  const Plan all = as_starts(plan, freed, changed);
  const std::string wrong = check_starts(freed, all);
  if (!wrong.empty()) RC_FAIL(wrong + "\n" + to_json(snapshot) + "\n" + to_json(plan, snapshot));
}

RC_GTEST_PROP(TradeProperty, what_waits_for_no_change_fits_at_once, ()) {
  const Snapshot snapshot = anything();
  Plan plan = round(snapshot, gen_learnt(), elastic(), kNow);
  std::erase_if(plan.starts, [](const Start& start) { return !start.after.empty(); });
  const std::string wrong = check_starts(snapshot, plan);
  if (!wrong.empty()) RC_FAIL(wrong + "\n" + to_json(snapshot) + "\n" + to_json(plan, snapshot));
}

RC_GTEST_PROP(TradeProperty, only_jobs_that_consented_change, ()) {
  const Snapshot snapshot = anything();
  const Plan plan = round(snapshot, gen_learnt(), elastic(), kNow);
  std::set<JobKey> seen;
  for (const Change& change : plan.changes) {
    const auto at = std::ranges::find(snapshot.jobs, change.job, &Job::key);
    RC_ASSERT(at != snapshot.jobs.end());
    RC_ASSERT(at->state == JobState::kRunning && at->managed);
    const bool interrupts =
        change.action == ChangeAction::kRestart || change.action == ChangeAction::kStop;
    RC_ASSERT(at->hints->resize == Resize::kLive || consents_to_restart(*at));
    RC_ASSERT(!interrupts || consents_to_restart(*at));
    RC_ASSERT(!(at->starting > 0));
    RC_ASSERT(seen.insert(change.job).second);
    RC_ASSERT(change.gpus == 0 || at->hints->sizes.contains(change.gpus));
    RC_ASSERT((change.action == ChangeAction::kStop) == change.shares.empty());
    const bool live =
        change.action == ChangeAction::kShrink || change.action == ChangeAction::kGrow;
    RC_ASSERT(!live || at->hints->resize == Resize::kLive);
    if (change.action == ChangeAction::kGrow)
      RC_ASSERT(with_held(*at, beside_held(*at, change.shares)) == change.shares);
    if (change.action == ChangeAction::kShrink) {
      RC_ASSERT(change.shares.front() == at->allocation.front());
      for (const NodeShare& share : change.shares)
        RC_ASSERT(std::ranges::find(at->allocation, share) != at->allocation.end());
    }
    for (const JobKey& other : change.after) {
      RC_ASSERT(other != change.job);
      RC_ASSERT(std::ranges::find(plan.changes, other, &Change::job) != plan.changes.end());
    }
  }
  for (const Start& start : plan.starts) {
    for (const JobKey& other : start.after)
      RC_ASSERT(std::ranges::find(plan.changes, other, &Change::job) != plan.changes.end());
    RC_ASSERT(start.after.empty() || !start.elsewhere);
  }
}

RC_GTEST_PROP(TradeProperty, the_same_input_gives_the_same_plan_and_json_keeps_it, ()) {
  const Snapshot snapshot = anything();
  const Models models = gen_learnt();
  const Config config = elastic();
  const Plan plan = round(snapshot, models, config, kNow);
  const std::string text = to_json(plan, snapshot);
  RC_ASSERT(to_json(round(snapshot, models, config, kNow), snapshot) == text);
  const auto again = plan_from_json(text, snapshot);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == plan);
}

// Elastic jobs that tell their work: nothing but the plan decides.
Snapshot told_jobs() {
  Snapshot snapshot = elastic_jobs();
  for (Job& job : snapshot.jobs) {
    job.account = "lab";
    if (job.state == JobState::kRunning) make_changeable(job);
    if (!job.hints) job.hints = gen_hints();
    job.hints->work = Work{WorkUnit::kSamples, gen_int(1000, 1'000'000), 0};
    job.hints->checkpoint.signal = SIGUSR1;
    job.hints->resize = Resize::kRestart;
    job.costs = {60, 60, 60};
    job.later_set = 0;
    job.starting = 0;
    if (job.state != JobState::kRunning) continue;
    job.start = kNow;  // of its work nothing is done yet
    job.end_limit = add_seconds(kNow, job.time_limit);
  }
  return snapshot;
}

RC_GTEST_PROP(TradeProperty, the_unit_of_time_changes_no_decision, ()) {
  constexpr int kFactor = 16;  // with which no value is rounded in another way
  const Models models = gen_learnt();
  const Config config = elastic();
  const Snapshot snapshot = told_jobs();
  Snapshot slower = snapshot;
  for (Job& job : slower.jobs) {
    job.eligible = kNow - kFactor * (kNow - job.eligible);
    job.key.submit = job.eligible;
    if (job.time_limit < kForever) job.time_limit *= kFactor;
    if (job.state == JobState::kRunning) {
      job.start = kNow - kFactor * (kNow - job.start);
      if (job.end_limit < kForever) job.end_limit = kNow + kFactor * (job.end_limit - kNow);
    }
    job.hints->work->count *= kFactor;
    job.costs = {kFactor * 60.0, kFactor * 60.0, kFactor * 60.0};
  }
  Plan one = round(snapshot, models, config, kNow);
  Config slow = config;
  slow.reserve_after *= kFactor;
  slow.starvation_bound *= kFactor;
  Plan two = round(slower, models, slow, kNow);
  // Starts come in the order of the queue, whose size classes are powers of two seconds.
  for (Plan* plan : {&one, &two})
    std::ranges::sort(plan->starts, {}, [](const Start& start) { return start.job.id; });
  RC_ASSERT(one.changes.size() == two.changes.size());
  for (std::size_t i = 0; i < one.changes.size(); ++i) {
    RC_ASSERT(one.changes[i].job.id == two.changes[i].job.id);
    RC_ASSERT(one.changes[i].action == two.changes[i].action);
    RC_ASSERT(one.changes[i].shares == two.changes[i].shares);
  }
  RC_ASSERT(one.starts.size() == two.starts.size());
  for (std::size_t i = 0; i < one.starts.size(); ++i) {
    RC_ASSERT(one.starts[i].job.id == two.starts[i].job.id);
    RC_ASSERT(one.starts[i].shares == two.starts[i].shares);
  }
}

// Each speed is reported once more, wrong by up to a tenth.
void report_again(std::vector<ThroughputObservation>& observations,
                  const std::vector<ThroughputObservation>& truth) {
  for (std::size_t i = 0; i < truth.size(); ++i) {
    ThroughputObservation& mean = observations[i];
    const double report = truth[i].throughput * (1 + .01 * gen_int(-10, 10));
    const auto reports = static_cast<double>(mean.samples);
    mean.throughput = (mean.throughput * reports + report) / (reports + 1);
    ++mean.samples;
  }
}

// Whether any job starts or changes between the fourth and the eighth round, if nothing happens but
// reports. They may move the mean of a speed over the point where a change pays.
bool is_restless(Snapshot snapshot) {
  constexpr int kSettled = 3;
  constexpr int kRounds = 8;
  const std::vector<ThroughputObservation> truth = gen_observations();
  std::vector<ThroughputObservation> observations = truth;
  const Config config = elastic();
  for (int i = 0; i < kRounds; ++i) {
    report_again(observations, truth);
    Plan plan = round(snapshot, learnt_from(observations), config, kNow + i);
    std::erase_if(plan.starts, [](const Start& start) { return start.shares.empty(); });
    if (i >= kSettled && !(plan.changes.empty() && plan.starts.empty())) return true;
    snapshot = apply(snapshot, plan);
    snapshot.taken = kNow + i + 1;
  }
  return false;
}

TEST(TradeProperty, PlansSettleWithinThreeRounds) {
  constexpr int kDrawn = 3000;
  const auto drawn = rc::gen::exec([] { return is_restless(told_jobs()); });
  int restless = 0;
  for (int seed = 0; seed < kDrawn; ++seed)
    restless +=
        drawn(rc::Random(static_cast<std::uint64_t>(seed)), rc::kNominalSize).value() ? 1 : 0;
  EXPECT_LE(restless, 40) << "36; 43 with TestOff=noise";
}

// Gangs of one size in bands of priority: a job gives way only by a stop.
Snapshot gangs_in_bands() {
  Snapshot snapshot = told_jobs();
  make_bands(snapshot);
  for (Job& job : snapshot.jobs) {
    const auto gpus = static_cast<int>(job.request.gpus);
    job.hints->sizes = GpuSizes({{gpus, gpus}});
  }
  return snapshot;
}

// Whether any job starts or changes after three stops, each with the start that follows it. As in
// slurmctld, a start that waits for a stop is decided anew once the stopped job waits too.
bool is_restless_in_steps(Snapshot snapshot) {
  constexpr int kSettled = 6;
  constexpr int kRounds = 11;
  const Models models = gen_learnt();
  const Config config = elastic();
  for (int i = 0; i < kRounds; ++i) {
    Plan plan = round(snapshot, models, config, kNow + i);
    std::erase_if(plan.starts,
                  [](const Start& start) { return start.shares.empty() || !start.after.empty(); });
    if (i >= kSettled && !(plan.changes.empty() && plan.starts.empty())) return true;
    snapshot = apply(snapshot, plan);
    snapshot.taken = kNow + i + 1;
  }
  return false;
}

TEST(TradeProperty, PlansSettleIfStartsFollowTheStops) {
  constexpr int kDrawn = 3000;
  const auto drawn = rc::gen::exec([] { return is_restless_in_steps(gangs_in_bands()); });
  int restless = 0;
  for (int seed = 0; seed < kDrawn; ++seed)
    restless +=
        drawn(rc::Random(static_cast<std::uint64_t>(seed)), rc::kNominalSize).value() ? 1 : 0;
  EXPECT_LE(restless, 6) << "4; 80 with the bands of the waiting jobs alone";
}

// Types with as many GPUs as the job asks for, where it may run.
std::vector<std::string> types_with_room(const Snapshot& snapshot, const Job& job) {
  std::map<std::string, int> gpus;
  for (const NodeIndex node : snapshot.node_sets[job.later_set]) {
    if (!snapshot.nodes[node].in_service()) continue;
    for (const GpuGroup& group : snapshot.nodes[node].gpus) gpus[group.type] += group.total;
  }
  std::vector<std::string> types;
  for (const auto& [type, total] : gpus) {
    if (total >= job.request.gpus) types.push_back(type);
  }
  return types;
}

// Whatever it is worth to the others.
RC_GTEST_PROP(TradeProperty, a_guaranteed_job_is_never_slower_than_as_requested, ()) {
  const Snapshot snapshot = anything();
  const Models models = gen_learnt();
  const Config config = elastic();
  const Plan plan = round(snapshot, models, config, kNow);
  const RoundInput input{snapshot, models, config, kNow};
  int checked = 0;
  for (const Change& change : plan.changes) {
    const auto at = std::ranges::find(snapshot.jobs, change.job, &Job::key);
    if (at->qos != "high" || change.action == ChangeAction::kNotify) continue;
    RC_ASSERT(change.action != ChangeAction::kStop);
    const double there =
        forecast_at(input, *at, resources_of(change.gpu_type, change.shares)).goodput();
    RC_ASSERT(there >= promised_goodput(input, *at, types_with_room(snapshot, *at)));
    ++checked;
  }
  RC_CLASSIFY(checked > 0, "a guaranteed job changes");
}

RC_GTEST_PROP(TradeProperty, without_consent_nothing_that_runs_changes, ()) {
  Snapshot snapshot = anything();
  for (Job& job : snapshot.jobs) {
    if (job.state != JobState::kRunning || !job.hints) continue;
    job.hints->checkpoint.signal = 0;
    if (job.hints->resize == Resize::kLive) job.hints->resize = Resize::kRestart;
  }
  RC_ASSERT(round(snapshot, gen_learnt(), elastic(), kNow).changes.empty());
}

}  // namespace
}  // namespace rubato::test

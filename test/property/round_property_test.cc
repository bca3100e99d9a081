// SPDX-License-Identifier: GPL-2.0-or-later
// Invariants of every round, for any snapshot (DESIGN P2, P3, P7).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "lib/json/json.h"
#include "lib/policy/round.h"
#include "test/support/gen_snapshot.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

Config gen_config() {
  Config config;
  config.reserve_depth = gen_int(0, 4);
  config.reserve_after = gen_chance(50) ? 600 : 60;
  config.starvation_bound = gen_chance(50) ? 86400 : 3600;
  if (gen_chance(10)) config.test_off.insert(Mechanism::kStockPlan);
  return config;
}

constexpr const char* kJobTypes[] = {"bert", "gpt", "odd"};

// Models, some with measurements of some job types.
Models gen_models() {
  if (gen_chance(30)) return Models();
  const std::map<std::string, double> speeds = {{"a100", 1.0}, {"h100", 2.0}};
  if (gen_chance(30)) return Models(speeds);
  std::vector<ThroughputObservation> observations;
  for (int i = gen_int(0, 12); i > 0; --i) {
    observations.push_back({{"lab", kJobTypes[gen_int(0, 2)]},
                            gen_chance(50) ? "a100" : "h100",
                            gen_int(1, 8),
                            static_cast<double>(gen_int(1, 1000)),
                            gen_int(1, 20)});
  }
  return Models(speeds, std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observations));
}

// Hints of a job.
ResolvedHints gen_hints() {
  ResolvedHints hints;
  if (gen_chance(80)) hints.job_type = kJobTypes[gen_int(0, 2)];
  if (gen_chance(60)) hints.work = Work{WorkUnit::kSamples, gen_int(1, 1'000'000), 0};
  if (gen_chance(50)) hints.sizes = GpuSizes({{1, gen_int(1, 16)}});
  if (gen_chance(20)) hints.gpu_types = {{gen_chance(50) ? "a100" : "h100"}};
  return hints;
}

Snapshot anything() {
  Snapshot snapshot = *gen_snapshot();
  std::map<JobKey, std::optional<ResolvedHints>> said;  // all entries of one job have the same
                                                        // hints
  for (Job& job : snapshot.jobs) {
    const auto [hints, fresh] = said.try_emplace(job.key);
    if (fresh && gen_chance(50)) hints->second = gen_hints();
    job.account = "lab";
    if (job.managed) job.hints = hints->second;
  }
  return snapshot;
}

// Two rounds, so that the second has the memory of the first.
template <typename Function>
void with_plans(Function check) {
  const Config config = gen_config();
  const Models models = gen_models();
  const Snapshot first = anything();
  const Plan plan = round(first, models, config, kNow);
  check(first, plan);
  const Seconds later = kNow + gen_int(1, 2000);
  const Snapshot second = advance(apply(first, plan), later);
  check(second, round(second, models, config, later));
}

RC_GTEST_PROP(RoundProperty, starts_fit_and_satisfy_the_requests, ()) {
  with_plans([](const Snapshot& snapshot, const Plan& plan) {
    const std::string wrong = check_starts(snapshot, plan);
    if (!wrong.empty()) RC_FAIL(wrong + "\n" + to_json(snapshot) + "\n" + to_json(plan, snapshot));
  });
}

RC_GTEST_PROP(RoundProperty, reservations_hold_beside_the_starts, ()) {
  with_plans([](const Snapshot& snapshot, const Plan& plan) {
    const std::string wrong = check_reservations(snapshot, plan);
    if (!wrong.empty()) RC_FAIL(wrong + "\n" + to_json(snapshot) + "\n" + to_json(plan, snapshot));
  });
}

RC_GTEST_PROP(RoundProperty, no_more_reservations_than_allowed_and_one_a_job, ()) {
  const Snapshot snapshot = anything();
  Config config = gen_config();
  const Plan plan = round(snapshot, Models(), config, kNow);
  RC_ASSERT(plan.reservations.size() <= static_cast<std::size_t>(config.reserve_depth));
  std::set<JobKey> jobs;
  for (const Reservation& r : plan.reservations) RC_ASSERT(jobs.insert(r.job).second);
  config.test_off.insert(Mechanism::kReserve);
  RC_ASSERT(round(snapshot, Models(), config, kNow).reservations.empty());
}

RC_GTEST_PROP(RoundProperty, every_pending_entry_has_one_explanation_in_order, ()) {
  with_plans([](const Snapshot& snapshot, const Plan& plan) {
    const auto pending = std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                                       [](const Job& j) { return j.state == JobState::kPending; });
    RC_ASSERT(static_cast<std::ptrdiff_t>(plan.explanations.size()) == pending);
    for (std::size_t i = 0; i < plan.explanations.size(); ++i) {
      const Explanation& e = plan.explanations[i];
      RC_ASSERT(e.order == static_cast<int>(i));
      RC_ASSERT(!e.reason.empty());
      const Job* job = pending_entry(snapshot, e.job, e.partition);
      RC_ASSERT(job != nullptr);
      if (job->het) RC_ASSERT(e.verdict == Verdict::kStock);
      if (!job->het && job->block != Block::kNone) RC_ASSERT(e.verdict == Verdict::kBlocked);
      const bool starts = std::any_of(plan.starts.begin(), plan.starts.end(), [&](const Start& s) {
        return s.job == e.job && s.partition == e.partition;
      });
      RC_ASSERT(starts == (e.verdict == Verdict::kStart || e.verdict == Verdict::kAttempt));
    }
  });
}

std::vector<std::string> numbers_in(const std::string& text) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    numbers.push_back(text.substr(i, end - i));
    i = end;
  }
  return numbers;
}

RC_GTEST_PROP(RoundProperty, every_number_of_a_reason_is_a_fact, ()) {
  with_plans([](const Snapshot&, const Plan& plan) {
    for (const Explanation& e : plan.explanations) {
      std::multiset<std::string> known;
      for (const auto& [name, value] : e.facts) {
        for (const std::string& number : numbers_in(name)) known.insert(number);
        for (const std::string& number : numbers_in(value)) known.insert(number);
      }
      for (const std::string& number : numbers_in(e.reason)) {
        if (!known.contains(number)) RC_FAIL("no fact for " + number + " in: " + e.reason);
      }
    }
  });
}

RC_GTEST_PROP(RoundProperty, the_same_input_gives_the_same_bytes, ()) {
  const Snapshot snapshot = anything();
  const Config config = gen_config();
  const Models models = gen_models();
  const Snapshot copy = *snapshot_from_json(to_json(snapshot));
  RC_ASSERT(to_json(round(snapshot, models, config, kNow), snapshot) ==
            to_json(round(copy, models, config, kNow), copy));
}

RC_GTEST_PROP(RoundProperty, the_listing_of_the_jobs_does_not_matter, ()) {
  const Snapshot snapshot = anything();
  const Config config = gen_config();
  const Models models = gen_models();
  Snapshot mixed = snapshot;
  std::shuffle(mixed.jobs.begin(), mixed.jobs.end(),
               std::mt19937(static_cast<unsigned>(gen_int(0, 1'000'000))));
  RC_ASSERT(round(snapshot, models, config, kNow) == round(mixed, models, config, kNow));
}

RC_GTEST_PROP(RoundProperty, json_gives_the_same_values_back, ()) {
  with_plans([](const Snapshot& snapshot, const Plan& plan) {
    const auto snapshot_back = snapshot_from_json(to_json(snapshot));
    if (!snapshot_back) RC_FAIL(snapshot_back.error().text);
    RC_ASSERT(*snapshot_back == snapshot);
    const auto plan_back = plan_from_json(to_json(plan, snapshot), snapshot);
    if (!plan_back) RC_FAIL(plan_back.error().text);
    RC_ASSERT(*plan_back == plan);
    const auto memory_back = memory_from_json(to_json(plan.memory, snapshot), snapshot);
    if (!memory_back) RC_FAIL(memory_back.error().text);
    RC_ASSERT(*memory_back == plan.memory);
  });
}

// Only managed jobs, on nodes that do not change.
GenOptions own_world() {
  GenOptions options;
  options.unmanaged = false;
  options.odd_nodes = false;
  return options;
}

// If every job ends at its time limit, a reservation is kept or improves.
RC_GTEST_PROP(RoundProperty, a_reservation_is_kept, ()) {
  Config config = gen_config();
  config.reserve_depth = gen_int(1, 4);
  // A bound that is due may replace a less urgent reservation.
  config.starvation_bound = 0;
  // New jobs go above all others or below them. The reservation of the first job yields to jobs
  // above it.
  const bool above = gen_chance(50);
  Snapshot snapshot = *gen_snapshot(own_world());
  for (Job& job : snapshot.jobs) job.tasks = 1;
  Seconds now = kNow;
  std::vector<Reservation> before;
  for (int i = 0; i < 12; ++i) {
    const Plan plan = round(snapshot, Models(), config, now);
    const std::string wrong = check_starts(snapshot, plan);
    if (!wrong.empty()) RC_FAIL(wrong + "\n" + to_json(snapshot) + "\n" + to_json(plan, snapshot));
    RC_ASSERT(check_reservations(snapshot, plan) == "");
    for (const Reservation& old : before) {
      if (above && old.reason == ReserveReason::kFirst) continue;
      const bool started = std::any_of(plan.starts.begin(), plan.starts.end(),
                                       [&](const Start& s) { return s.job == old.job; });
      if (started) continue;
      RC_ASSERT(old.start > now);
      const auto kept = std::find_if(plan.reservations.begin(), plan.reservations.end(),
                                     [&](const Reservation& r) { return r.job == old.job; });
      RC_ASSERT(kept != plan.reservations.end());
      if (kept->start > old.start) {
        RC_FAIL("put off: job " + std::to_string(old.job.id) + "\n" + to_json(snapshot) + "\n" +
                to_json(plan, snapshot));
      }
      RC_ASSERT(kept->made == old.made);
    }
    before = plan.reservations;
    snapshot = apply(snapshot, plan);
    Seconds next = now + gen_int(1, 600);
    for (const Reservation& r : plan.reservations) {
      if (r.start > now) next = std::min(next, r.start);
    }
    now = next;
    snapshot = advance(snapshot, now);
    // New jobs may enter at any queue position.
    if (gen_chance(50)) {
      GenOptions options = own_world();
      options.twins = false;
      gen_pending(snapshot, static_cast<JobId>(100 + i), options);
      Job& job = snapshot.jobs.back();
      job.key.submit = job.eligible = now;
      job.tasks = 1;
      if (above) {
        for (Job& other : snapshot.jobs) other.rank += other.state == JobState::kPending ? 2 : 0;
        job.rank = 0;
      }
      sort_jobs(snapshot);
    }
  }
}

RC_GTEST_PROP(RoundProperty, the_first_job_starts_on_an_empty_cluster, ()) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}, {"h100", 8}});
  const int nodes = gen_int(1, 2);
  Job& job = add_pending(snapshot, 0);
  if (gen_chance(50)) {
    job.request.gpus = gen_int(1, 8);
  } else {
    job.request.gpus_per_node = gen_int(1, 4);
    job.request.min_nodes = job.request.max_nodes = nodes;
  }
  job.request.cores = gen_int(1, 32);
  job.time_limit = gen_limit({});
  for (int i = gen_int(0, 5); i > 0; --i) add_pending(snapshot, gen_int(1, 16));
  const Plan plan = round(snapshot, gen_models(), gen_config(), kNow);
  RC_ASSERT(plan.explanations.front().verdict == Verdict::kStart);
}

}  // namespace
}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/replay/simulate.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "test/support/build_snapshot.h"

namespace rubato::sim {
namespace {

using test::kNow;
using test::make_cluster;

/// Run time of each job in seconds, by id.
using Times = std::map<JobId, Seconds>;

RunTime run_time(const Times& times) {
  return [times](const Job& job, const Start&) { return times.at(job.key.id); };
}

/// A managed job that enters `after` seconds after kBegin and requests `gpus` GPUs in total.
JobArrival arrival(JobId id, Seconds after, int gpus, Seconds limit = 3600) {
  Snapshot snapshot;
  JobArrival one{.job = test::add_pending(snapshot, gpus), .enters = kNow + after};
  one.job.key = {id, kNow + after};
  one.job.label = std::to_string(id);
  one.job.time_limit = limit;
  one.job.later_set = 0;
  return one;
}

Config config() {
  Config config;
  config.manage_all = true;
  return config;
}

SimulationOutcome play(const SimulationInput& workload, const Times& times,
                       const SimulationBounds& bounds = {}) {
  return simulate(workload, Models(), config(), run_time(times), bounds);
}

/// (id, start, end) of each run, in seconds after kBegin.
std::vector<std::tuple<JobId, Seconds, Seconds>> shown(const SimulationOutcome& outcome) {
  std::vector<std::tuple<JobId, Seconds, Seconds>> out;
  for (const CompletedRun& run : outcome.runs) {
    out.emplace_back(run.job.id, run.start - kNow, run.end - kNow);
  }
  return out;
}

using Shown = std::vector<std::tuple<JobId, Seconds, Seconds>>;

// One node of 4 GPUs. Job 4 gets the node at 100 + 3600, the limit of job 3; job 5 ends before.
TEST(Simulate, computed_by_hand) {
  SimulationInput workload{.cluster = make_cluster({{"a100", 4}}),
                           .arrivals = {arrival(1, 0, 4), arrival(2, 10, 2), arrival(3, 20, 2),
                                        arrival(4, 30, 4), arrival(5, 40, 1, 25)},
                           .begin = kNow};
  const SimulationOutcome outcome = play(workload, {{1, 100}, {2, 50}, {3, 70}, {4, 10}, {5, 20}});
  EXPECT_EQ(shown(outcome),
            (Shown{{1, 0, 100}, {2, 100, 150}, {3, 100, 170}, {5, 150, 170}, {4, 170, 180}}));
  EXPECT_TRUE(outcome.waited.empty());
  EXPECT_EQ(outcome.refused, 0);
  EXPECT_TRUE(outcome.complete);
}

// Job 5 could not end before the GPUs for job 4 become free by their limits.
TEST(Simulate, a_reservation_holds) {
  SimulationInput workload{
      .cluster = make_cluster({{"a100", 4}}),
      .arrivals = {arrival(1, 0, 2, 60), arrival(4, 5, 4), arrival(5, 10, 1, 3600)},
      .begin = kNow};
  const SimulationOutcome outcome = play(workload, {{1, 50}, {4, 10}, {5, 5}});
  EXPECT_EQ(shown(outcome), (Shown{{1, 0, 50}, {4, 50, 60}, {5, 60, 65}}));
}

TEST(Simulate, a_run_ends_at_its_time_limit) {
  SimulationInput workload{
      .cluster = make_cluster({{"a100", 4}}), .arrivals = {arrival(1, 0, 1, 30)}, .begin = kNow};
  EXPECT_EQ(shown(play(workload, {{1, 100}})), (Shown{{1, 0, 30}}));
}

TEST(Simulate, holders_hold_until_they_end) {
  Snapshot cluster = make_cluster({{"a100", 4}});
  const Job held = test::add_running(cluster, {test::share_of(cluster, 0, 3)}, kNow + 1000);
  SimulationInput workload{.cluster = cluster,
                           .arrivals = {arrival(1, 0, 2), arrival(2, 0, 1, 40)},
                           .holders = {{held, kNow + 70}},
                           .begin = kNow};
  const SimulationOutcome outcome = play(workload, {{1, 10}, {2, 20}});
  EXPECT_EQ(shown(outcome), (Shown{{2, 0, 20}, {1, 70, 80}}));
}

// The plan leaves the nodes of an unmanaged job to Slurm, which avoids reserved nodes. Job 2 has
// both nodes from 3600 on, so job 3 may start before it and job 4 may not.
TEST(Simulate, unmanaged_jobs_start_where_slurm_would_start_them) {
  SimulationInput workload{.cluster = make_cluster({{"a100", 4}, {"a100", 4}}),
                           .arrivals = {arrival(1, 0, 8), arrival(2, 1, 8), arrival(3, 2, 0, 10),
                                        arrival(4, 2, 0, 3600)},
                           .holders = {},
                           .begin = kNow};
  for (const std::size_t i : {2, 3}) {
    workload.arrivals[i].job.managed = false;
    workload.arrivals[i].job.request.cores = 4;
  }
  workload.arrivals[0].job.request.gpus = 4;
  const SimulationOutcome outcome = play(workload, {{1, 100}, {2, 20}, {3, 10}, {4, 10}});
  ASSERT_EQ(outcome.runs.size(), 4U);
  EXPECT_EQ(shown(outcome), (Shown{{1, 0, 100}, {3, 2, 12}, {2, 100, 120}, {4, 100, 110}}));
}

TEST(Simulate, the_higher_priority_goes_first) {
  SimulationInput workload{.cluster = make_cluster({{"a100", 4}}),
                           .arrivals = {arrival(1, 0, 4), arrival(2, 1, 4), arrival(3, 2, 4)},
                           .begin = kNow};
  workload.arrivals[2].job.priority = 10;
  const SimulationOutcome outcome = play(workload, {{1, 10}, {2, 10}, {3, 10}});
  EXPECT_EQ(shown(outcome), (Shown{{1, 0, 10}, {3, 10, 20}, {2, 20, 30}}));
}

TEST(Simulate, a_job_that_ran_twice_runs_twice) {
  SimulationInput workload{.cluster = make_cluster({{"a100", 4}}),
                           .arrivals = {arrival(1, 0, 4), arrival(1, 5, 4)},
                           .begin = kNow};
  workload.arrivals[1].job.key = workload.arrivals[0].job.key;
  EXPECT_EQ(shown(play(workload, {{1, 10}})), (Shown{{1, 0, 10}, {1, 10, 20}}));
}

TEST(Simulate, says_who_never_started) {
  SimulationInput workload{.cluster = make_cluster({{"a100", 4}}),
                           .arrivals = {arrival(1, 0, 5), arrival(2, 1, 1)},
                           .begin = kNow};
  const SimulationOutcome outcome = play(workload, {{1, 10}, {2, 10}});
  EXPECT_EQ(shown(outcome), (Shown{{2, 1, 11}}));
  ASSERT_EQ(outcome.waited.size(), 1U);
  EXPECT_EQ(outcome.waited.front().id, 1U);
  EXPECT_TRUE(outcome.complete);
}

TEST(Simulate, ends_at_the_bound) {
  SimulationInput workload{.cluster = make_cluster({{"a100", 4}}),
                           .arrivals = {arrival(1, 0, 4), arrival(2, 1, 4), arrival(3, 2, 4)},
                           .begin = kNow};
  const SimulationOutcome outcome = play(workload, {{1, 10}, {2, 10}, {3, 10}}, {.max_rounds = 2});
  EXPECT_FALSE(outcome.complete);
  EXPECT_EQ(outcome.rounds, 2);
  EXPECT_EQ(outcome.waited.size(), 2U);
}

}  // namespace
}  // namespace rubato::sim

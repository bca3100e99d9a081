// SPDX-License-Identifier: GPL-2.0-or-later
// Recorded runs, and the counterfactual estimate from them.
#include "lib/replay/counterfactual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "lib/base/json_value.h"
#include "lib/json/record_writer.h"
#include "lib/replay/counterfactual_records.h"
#include "lib/store/run_text.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::kNow;
using test::make_cluster;
using test::share_of;

constexpr Seconds kBegin = kNow - 1000;

Config config() {
  Config config;
  config.manage_all = true;
  return config;
}

/// A managed job of `gpus` GPUs that ran on the first node from `start` to `end` after kBegin; end
/// 0: it had not ended.
RecordedRun run(const Snapshot& cluster, JobId id, int gpus, Seconds enters, Seconds start,
                Seconds end, const std::string& job_type = "", Mode mode = Mode::kObserve) {
  Snapshot running = cluster;
  Job job = test::add_running(running, {share_of(cluster, 0, gpus)}, kForever);
  job.key = {id, kBegin + enters};
  job.start = kBegin + start;
  job.time_limit = 3600;
  job.end_limit = job.start + job.time_limit;
  job.request.gpus = gpus;
  if (!job_type.empty()) {
    job.hints = ResolvedHints();
    job.hints->job_type = job_type;
  }
  return {job.key, job.start, kBegin + enters, end > 0 ? kBegin + end : 0,
          sim::run_text(job, running, mode)};
}

TEST(RunText, names_the_nodes_of_a_job_that_cannot_run_anywhere) {
  Snapshot cluster = make_cluster({{"a100", 4}, {"a100", 4}, {"a100", 4}});
  cluster.node_sets.push_back({0, 2});
  Job& job = test::add_running(cluster, {share_of(cluster, 2, 3)}, kForever);
  job.later_set = 1;
  const std::string text = sim::run_text(job, cluster, Mode::kObserve);
  EXPECT_EQ(text.find("n2"), std::string::npos) << text;

  // The same nodes in another order, plus one.
  Snapshot later = make_cluster({{"a100", 4}, {"a100", 4}, {"a100", 4}, {"a100", 4}});
  std::swap(later.nodes[0].name, later.nodes[3].name);
  const auto read = sim::run_from_text(text, later);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_EQ(later.node_sets.at(read->node_set), (NodeSet{2, 3}));
  EXPECT_EQ(read->allocation.at(0).node, 2);
  EXPECT_EQ(read->key, job.key);
  later.nodes[2].name = "other";
  EXPECT_EQ(sim::run_from_text(text, later).error().text, "there is no node n3 any more");
}

TEST(RunText, a_job_of_a_whole_partition_names_only_what_it_had) {
  Snapshot cluster = make_cluster({{"a100", 4}, {"a100", 4}});
  Job& job = test::add_running(cluster, {share_of(cluster, 0, 1)}, kForever);
  for (const NodeSetIndex set : {NodeSetIndex(), NodeSetIndex{0}}) {
    job.later_set = set;
    const std::string text = sim::run_text(job, cluster, Mode::kObserve);
    EXPECT_EQ(text.find("n2"), std::string::npos) << text;
    const auto read = sim::run_from_text(text, cluster);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->node_set, 0);
  }
  EXPECT_FALSE(sim::run_from_text("{}", cluster));
  const std::string text = sim::run_text(job, cluster, Mode::kObserve);
  cluster.partitions[0].name = "other";
  EXPECT_EQ(sim::run_from_text(text, cluster).error().text, "there is no partition gpu any more");
}

TEST(RunText, too_many_names_are_not_kept) {
  std::vector<std::pair<std::string, int>> nodes(sim::kMaxNames + 2, {"a100", 4});
  Snapshot cluster = make_cluster(nodes);
  Job& job = test::add_running(cluster, {share_of(cluster, 0, 1)}, kForever);
  NodeSet set = cluster.node_sets[0];
  set.pop_back();
  cluster.node_sets.push_back(set);
  job.later_set = 1;
  EXPECT_EQ(sim::run_text(job, cluster, Mode::kObserve), "");
  job.later_set = 0;
  EXPECT_NE(sim::run_text(job, cluster, Mode::kObserve), "");
}

// One node of 4 GPUs. Stock Slurm left it idle from 100 to 160; place starts 2 at 100.
TEST(CounterfactualEstimate, computed_by_hand) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  const CounterfactualEstimate estimate = estimate_counterfactual(
      cluster, {run(cluster, 1, 4, 0, 0, 100), run(cluster, 2, 4, 10, 160, 200)}, Models(),
      config(), kBegin);
  EXPECT_TRUE(estimate.complete);
  EXPECT_EQ(estimate.runs, 2);
  EXPECT_EQ(estimate.compared, 2);
  EXPECT_EQ(estimate.moved, 0);
  EXPECT_EQ(estimate.observed, (CounterfactualSide{75, 145}));
  EXPECT_EQ(estimate.place, (CounterfactualSide{45, 115}));
  EXPECT_TRUE(estimate.left_out.empty());
}

// In mode observe, no gain is counted if stock Slurm acted at the same time as Rubato would.
TEST(CounterfactualEstimate, is_none_where_stock_did_the_same) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  const CounterfactualEstimate estimate = estimate_counterfactual(
      cluster, {run(cluster, 1, 4, 0, 0, 100), run(cluster, 2, 2, 10, 100, 200)}, Models(),
      config(), kBegin);
  EXPECT_EQ(estimate.compared, 2);
  EXPECT_EQ(estimate.observed, estimate.place);
}

TEST(CounterfactualEstimate, a_profile_says_how_long_a_job_runs_on_another_type) {
  const Snapshot cluster = make_cluster({{"a100", 4}, {"h100", 4}});
  const std::map<std::string, double> speeds{{"a100", 1}, {"h100", 2}};
  const ThroughputObservation slow{{"", "resnet"}, "a100", 4, 100, 50};
  const ThroughputObservation fast{{"", "resnet"}, "h100", 4, 300, 50};
  const auto learnt = std::make_shared<const ThroughputModel>(
      TypeSpeeds(speeds), std::vector<ThroughputObservation>{slow, fast});
  const Models models(speeds, learnt);
  const double ratio = learnt->ratio({"", "resnet"}, {"a100", 4}, {"h100", 4}).log_throughput;
  ASSERT_NEAR(std::exp(ratio), 1.0 / 3, 0.02);
  const CounterfactualEstimate estimate = estimate_counterfactual(
      cluster, {run(cluster, 1, 4, 0, 0, 300, "resnet")}, models, config(), kBegin);
  EXPECT_EQ(estimate.compared, 1);
  EXPECT_EQ(estimate.moved, 1);
  EXPECT_EQ(estimate.rescaled, 1);
  EXPECT_EQ(estimate.observed.jct, 300);
  EXPECT_EQ(estimate.place.jct, static_cast<double>(std::llround(300 * std::exp(ratio))));
  // Without a profile the run time is unchanged.
  const CounterfactualEstimate plain =
      estimate_counterfactual(cluster, {run(cluster, 1, 4, 0, 0, 300)}, models, config(), kBegin);
  EXPECT_EQ(plain.moved, 1);
  EXPECT_EQ(plain.rescaled, 0);
  EXPECT_EQ(plain.place.jct, 300);
}

// As run(): a job of net that states its work, and whose hints let it be restarted.
RecordedRun movable(const Snapshot& cluster, JobId id, Seconds enters, Seconds start, Seconds end,
                    std::int64_t samples, const char* account, Resize resize = Resize::kRestart) {
  Snapshot running = cluster;
  Job& job = test::add_running(running, {share_of(cluster, 0, 4)}, kForever);
  job.key = {id, kBegin + enters};
  job.start = kBegin + start;
  job.time_limit = 36000;
  job.end_limit = job.start + job.time_limit;
  job.account = account;
  job.request.gpus = 4;
  job.hints = ResolvedHints();
  job.hints->job_type = "net";
  job.hints->work = Work{WorkUnit::kSamples, samples, 0};
  job.hints->checkpoint.signal = SIGUSR1;
  job.hints->resize = resize;
  return {job.key, job.start, kBegin + enters, kBegin + end,
          sim::run_text(job, running, Mode::kObserve)};
}

// net does 100 samples/s on 4 GPUs.
Models measured_net() {
  const std::map<std::string, double> speeds{{"a100", 1}};
  return Models(speeds, std::make_shared<const ThroughputModel>(
                            TypeSpeeds(speeds), std::vector<ThroughputObservation>{
                                                    {{"lab", "net"}, "a100", 4, 100, 50},
                                                    {{"ops", "net"}, "a100", 4, 100, 50}}));
}

// A job of 9000 s runs. One of 100 s came after 1000 s, and waited until its end.
TEST(CounterfactualEstimate, mode_elastic_interrupts_a_long_job_for_a_short_one) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  Config told = config();
  told.restart_cost = 60;
  const std::vector<RecordedRun> runs{movable(cluster, 1, 0, 0, 9000, 900'000, "lab"),
                                      movable(cluster, 2, 1000, 9000, 9100, 10'000, "lab")};
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, runs, measured_net(), told, kBegin);
  ASSERT_EQ(estimate.compared, 2);
  EXPECT_EQ(estimate.observed, (CounterfactualSide{4000, 8550}));
  EXPECT_EQ(estimate.place, estimate.observed);
  EXPECT_LE(estimate.elastic.wait, 600);
  EXPECT_EQ(estimate.elastic.jct - estimate.elastic.wait, (100 + 9000 + 100 + 60) / 2.0)
      << "nothing is lost, and a restart costs 60 s";
  EXPECT_EQ(estimate.accounts, (std::vector<InterruptedAccount>{{"lab", 2, 2, 1, 1, 0}}));
}

// At the start of its run no step of a job runs, and it is exempt from changes for a while. Both
// are of that moment: in the estimate the job starts at another.
TEST(CounterfactualEstimate, what_a_job_was_at_its_real_start_does_not_last) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  RecordedRun held = movable(cluster, 1, 0, 5000, 14000, 900'000, "lab");
  Snapshot then = cluster;
  Job job = *sim::run_from_text(held.text, then);
  job.without_step = true;
  job.exempt_until = job.start + 60;
  then.jobs = {job};
  held.text = sim::run_text(then.jobs[0], then, Mode::kObserve);
  ASSERT_NE(held.text.find("without_step"), std::string::npos);
  const std::vector<RecordedRun> runs{held, movable(cluster, 2, 1000, 14000, 14100, 10'000, "lab")};
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, runs, measured_net(), config(), kBegin);
  ASSERT_EQ(estimate.compared, 2);
  EXPECT_LE(estimate.elastic.wait, 600);
  EXPECT_EQ(estimate.accounts, (std::vector<InterruptedAccount>{{"lab", 2, 2, 1, 1, 0}}));
}

TEST(CounterfactualEstimate, mode_elastic_interrupts_no_job_without_consent) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  const std::vector<RecordedRun> runs{
      movable(cluster, 1, 0, 0, 3000, 300'000, "lab", Resize::kNone),
      movable(cluster, 2, 100, 3000, 3100, 10'000, "ops")};
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, runs, measured_net(), config(), kBegin);
  EXPECT_EQ(estimate.elastic, estimate.place);
  EXPECT_EQ(estimate.accounts,
            (std::vector<InterruptedAccount>{{"lab", 1, 0, 0, 0, 0}, {"ops", 1, 1, 0, 0, 0}}));
}

TEST(CounterfactualEstimate, of_mode_place_compares_what_rubato_placed) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  Config placing = config();
  placing.mode = Mode::kPlace;
  const std::vector<RecordedRun> runs{run(cluster, 1, 4, 0, 0, 100, "", Mode::kPlace),
                                      run(cluster, 2, 4, 0, 100, 200)};
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, runs, Models(), placing, kBegin);
  EXPECT_EQ(estimate.mode, Mode::kPlace);
  EXPECT_EQ(estimate.compared, 1);
  EXPECT_EQ(estimate.left_out,
            (std::map<std::string, std::int64_t>{{"started in another mode", 1}}));
}

TEST(CounterfactualEstimate, a_job_that_its_limit_ended_runs_to_it_again) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  RecordedRun limited = run(cluster, 1, 4, 0, 0, 3602);
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, {limited}, Models(), config(), kBegin);
  EXPECT_EQ(estimate.place.jct, 3600);
}

TEST(CounterfactualEstimate, says_what_was_left_out) {
  Snapshot cluster = make_cluster({{"a100", 4}, {"a100", 4}});
  const RecordedRun before = run(cluster, 1, 1, 0, 0, 500);
  const RecordedRun still = run(cluster, 2, 1, 200, 200, 0);
  const RecordedRun unseen = run(cluster, 3, 1, 200, 250, 0);
  RecordedRun broken = run(cluster, 4, 1, 300, 300, 400);
  broken.text = "{";
  const RecordedRun over = run(cluster, 5, 1, 0, 10, 50);
  const RecordedRun good = run(cluster, 6, 1, 300, 310, 400);
  Job& job = test::add_running(cluster, {share_of(cluster, 0, 1)}, kForever);
  job.key = still.job;
  job.start = still.start;
  const CounterfactualEstimate estimate = estimate_counterfactual(
      cluster, {before, still, unseen, broken, over, good}, Models(), config(), kBegin + 100);
  EXPECT_EQ(estimate.runs, 5);
  EXPECT_EQ(estimate.compared, 1);
  EXPECT_EQ(estimate.left_out, (std::map<std::string, std::int64_t>{
                                   {"the end was not seen", 1},
                                   {"started before", 1},
                                   {"still running", 1},
                                   {"the request is not kept, or its nodes are gone", 1}}));
}

// A job that Rubato placed occupies its nodes in the estimate, but counts for no gain.
TEST(CounterfactualEstimate, counts_only_what_was_observed) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  const RecordedRun observed = run(cluster, 1, 4, 0, 0, 100);
  const RecordedRun late = run(cluster, 2, 4, 10, 160, 200);
  const RecordedRun placed = run(cluster, 2, 4, 10, 160, 200, "", Mode::kPlace);
  EXPECT_EQ(sim::mode_of_run(observed.text), Mode::kObserve);
  EXPECT_EQ(sim::mode_of_run(placed.text), Mode::kPlace);
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, {observed, placed}, Models(), config(), kBegin);
  EXPECT_EQ(estimate.compared, 1);
  EXPECT_EQ(estimate.observed, estimate.place);
  EXPECT_EQ(estimate.left_out,
            (std::map<std::string, std::int64_t>{{"started while Rubato placed", 1}}));
  // Replayed anyway: it holds the node while an observed job waits for it.
  const RecordedRun first = run(cluster, 1, 4, 0, 0, 100, "", Mode::kPlace);
  const CounterfactualEstimate held =
      estimate_counterfactual(cluster, {first, late}, Models(), config(), kBegin);
  EXPECT_EQ(held.compared, 1);
  EXPECT_EQ(held.observed, (CounterfactualSide{150, 190}));
  EXPECT_EQ(held.place, (CounterfactualSide{90, 130}));
  EXPECT_EQ(estimate_counterfactual(cluster, {placed}, Models(), config(), kBegin).compared, 0);
}

TEST(CounterfactualEstimate, a_run_that_tells_no_mode_is_left_out) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  RecordedRun old = run(cluster, 1, 4, 0, 0, 100);
  const std::string mode = "\"mode\":\"observe\",";
  const auto at = old.text.find(mode);
  ASSERT_NE(at, std::string::npos) << old.text;
  old.text.erase(at, mode.size());
  EXPECT_EQ(sim::mode_of_run(old.text), std::nullopt);
  EXPECT_EQ(sim::mode_of_run("{"), std::nullopt);
  EXPECT_EQ(sim::mode_of_run("{\"mode\":7}"), std::nullopt);
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, {old}, Models(), config(), kBegin);
  EXPECT_EQ(estimate.compared, 0);
  EXPECT_EQ(estimate.left_out, (std::map<std::string, std::int64_t>{{"mode not recorded", 1}}));
}

TEST(CounterfactualEstimate, other_jobs_are_played_beside) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  RecordedRun other = run(cluster, 1, 4, 0, 0, 100);
  const auto at = other.text.find("\"managed\":true,");
  ASSERT_NE(at, std::string::npos) << other.text;
  other.text.erase(at, 15);
  const CounterfactualEstimate estimate = estimate_counterfactual(
      cluster, {other, run(cluster, 2, 4, 10, 160, 200)}, Models(), config(), kBegin);
  EXPECT_EQ(estimate.beside, 1);
  EXPECT_EQ(estimate.compared, 1);
  EXPECT_EQ(estimate.observed, (CounterfactualSide{150, 190}));
  EXPECT_EQ(estimate.place, (CounterfactualSide{90, 130}));
}

TEST(CounterfactualEstimate, only_the_last_runs_are_played) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  std::vector<RecordedRun> runs;
  for (std::size_t i = 0; i < kMaxCounterfactualRuns + 10; ++i) {
    const auto start = static_cast<Seconds>(10 * i);
    RecordedRun one = run(cluster, static_cast<JobId>(i + 1), 4, start, start, start + 5);
    runs.push_back(std::move(one));
  }
  const CounterfactualEstimate estimate =
      estimate_counterfactual(cluster, runs, Models(), config(), kBegin);
  EXPECT_EQ(estimate.from, kBegin + 100);
  EXPECT_EQ(estimate.compared, static_cast<std::int64_t>(kMaxCounterfactualRuns));
  EXPECT_EQ(estimate.place.wait, 0);
}

TEST(CounterfactualEstimate, json_has_no_means_without_jobs) {
  const Snapshot cluster = make_cluster({{"a100", 4}});
  const auto empty =
      json::json_of(estimate_counterfactual(cluster, {}, Models(), config(), kBegin));
  EXPECT_FALSE(empty.contains("observed"));
  EXPECT_EQ(empty["assumptions"].size(), counterfactual_assumptions().size());
  const auto one = json::json_of(
      estimate_counterfactual(cluster, {run(cluster, 1, 4, 0, 0, 10)}, Models(), config(), kBegin));
  EXPECT_EQ(one["observed"]["mean_jct_s"], 10);
}

}  // namespace
}  // namespace rubato

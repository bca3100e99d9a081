// SPDX-License-Identifier: GPL-2.0-or-later
// Policies of the engine in the loops of the peers' simulators: the same policy gives the same
// figures there as the peer's own copy of it, decisions happen where the loop has them, and rules
// are never mixed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <map>
#include <set>

#include "lib/sim/peers/adaptive_loop.h"
#include "lib/sim/peers/format_gavel.h"
#include "lib/sim/peers/gavel_fifo.h"
#include "lib/sim/peers/rubick_nodes.h"
#include "test/sim/played.h"
#include "test/support/shared_data.h"

namespace rubato::sim {
namespace {

/// Three types of different speed.
class ThreeSpeeds final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double) const override {
    static constexpr double kSpeeds[] = {2.5, 1.7, 1};
    const bool other = job.model == "other" && setting.type == 1;
    return setting.gpus() * (other ? 3.1 : kSpeeds[setting.type.value()]);
  }
};

/// A drawn suite with the rules of Gavel's simulator.
Suite gavel_suite(std::uint64_t seed) {
  Draw draw(seed);
  Suite suite;
  suite.name = "drawn";
  suite.cluster = parse_cluster_shape("v100:3x1,p100:5x1,k80:8x1").value();
  suite.truth = std::make_shared<ThreeSpeeds>();
  suite.rules = &rules_gavel;
  suite.host = &host_gavel;
  suite.rules_name = "gavel";
  double arrival = 0;
  for (int j = 0; j < 40; ++j) {
    SimJob job;
    job.key = std::to_string(j);
    job.model = draw.whole(0, 1) == 0 ? "one" : "other";
    job.gpus = job.min_gpus = job.max_gpus = draw.whole(0, 3) == 0 ? 2 : 1;
    job.work = draw.whole(500, 20'000);
    job.arrival = arrival;
    arrival += draw.whole(0, 900);
    suite.jobs.push_back(std::move(job));
  }
  return suite;
}

/// Gavel's heterogeneity-aware FIFO, as a policy of the engine.
class GavelFifoGuest final : public Policy {
 public:
  std::vector<Grant> decide(const PolicyState& state) override {
    std::vector<FifoJob> jobs;
    for (const JobView& view : state.jobs) {
      FifoJob job{view.index, view.job->gpus, {}};
      for (const TypeIndex type : state.cluster.type_indices()) {
        job.throughputs.push_back(state.truth->throughput(
            *view.job, packed(state.cluster, type, view.job->gpus), view.done));
      }
      jobs.push_back(std::move(job));
    }
    std::vector<int> free;
    std::vector<TypeIndex> by_name;
    for (const TypeIndex type : state.cluster.type_indices()) {
      free.push_back(state.cluster.gpus(type));
      by_name.push_back(type);
    }
    std::ranges::sort(by_name, {}, [&](TypeIndex type) { return state.cluster.groups[type].type; });
    const FifoChoice chosen = fifo_fastest(jobs, free, by_name);
    std::vector<Grant> grants(state.jobs.size());
    for (std::size_t i = 0; i < grants.size(); ++i) {
      const auto at = chosen.find(state.jobs[i].index);
      if (at != chosen.end()) grants[i] = {at->second, state.jobs[i].job->gpus, {}, 0, ""};
    }
    return grants;
  }
};

void expect_same_times(const RunMetrics& guest, const RunMetrics& own) {
  ASSERT_EQ(guest.jobs.size(), own.jobs.size());
  for (std::size_t j = 0; j < own.jobs.size(); ++j) {
    EXPECT_EQ(guest.jobs[j].finish, own.jobs[j].finish) << "job " << j;
    EXPECT_EQ(guest.jobs[j].first_start, own.jobs[j].first_start) << "job " << j;
    EXPECT_EQ(guest.jobs[j].restarts, own.jobs[j].restarts) << "job " << j;
  }
}

TEST(Guests, PlayGavelsFifoAsItsOwnLoopDoes) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Suite suite = gavel_suite(seed);
    GavelFifoGuest policy;
    const auto guest = host_gavel(suite, policy, {});
    ASSERT_TRUE(guest) << guest.error().text;
    expect_same_times(*guest, play(suite, "fifo-het"));
  }
}

TEST(Guests, HaveThePublishedFigureOfGavelsFifo) {
  const auto data = test::shared_data("gavel");
  if (!data) GTEST_SKIP() << "no shared data";
  const auto suite = make_suite("gavel-cont48", *data, 0);
  ASSERT_TRUE(suite) << suite.error().text;
  GavelFifoGuest policy;
  const auto guest = host_gavel(*suite, policy, {});
  ASSERT_TRUE(guest) << guest.error().text;
  expect_same_times(*guest, play(*suite, "fifo-het", 0));
  const Metrics metrics = measure(*guest, suite->window, suite->cluster.gpus(), suite->origin);
  EXPECT_NEAR(metrics.avg_jct_s / 3600, 5.42, .01 * 5.42);
  const RunMetrics fifo = play(*suite, "fifo@peer", 0);
  EXPECT_NEAR(measure(fifo, suite->window, suite->cluster.gpus(), 0).avg_jct_s / 3600, 9.97, .0997);
}

/// Tiresias as in Pollux's simulator (pollux_tiresias.h), as a policy of the engine.
class PolluxTiresiasGuest final : public Policy {
 public:
  std::vector<Grant> decide(const PolicyState& state) override {
    std::map<JobIndex, std::size_t> rows;
    for (std::size_t i = 0; i < state.jobs.size(); ++i) rows[state.jobs[i].index] = i;
    for (auto& queue : queues_) {
      queue.remove_if([&](JobIndex job) { return !rows.contains(job); });
    }
    for (const JobView& view : state.jobs) {
      if (seen_.insert(view.index).second) queues_[0].push_back(view.index);
      if (view.ran_s * view.job->gpus < 57'600) continue;
      if (queues_[0].remove(view.index) > 0) queues_[1].push_back(view.index);
    }
    std::vector<Grant> grants(state.jobs.size());
    std::vector<int> free(static_cast<std::size_t>(state.cluster.groups[0].nodes),
                          state.cluster.groups[0].gpus_per_node);
    std::vector<std::size_t> starts;
    int left = state.cluster.gpus(0);
    for (const auto& queue : queues_) {
      for (const JobIndex job : queue) {
        const JobView& view = state.jobs[rows.at(job)];
        if (view.job->gpus > left) continue;
        left -= view.job->gpus;
        if (!view.now.holds()) {
          starts.push_back(rows.at(job));
          continue;
        }
        grants[rows.at(job)] = view.now;
        for (const NodeGpus& part : view.now.where) {
          free[static_cast<std::size_t>(part.node.value())] -= part.gpus;
        }
      }
    }
    for (const std::size_t i : starts) {
      grants[i] = {0, state.jobs[i].job->gpus, {}, 0, ""};
      for (const GroupNodeIndex node : take_most_free(free, grants[i].gpus)) {
        auto& where = grants[i].where;
        if (where.empty() || where.back().node != node) where.push_back({node, 0});
        ++where.back().gpus;
      }
    }
    return grants;
  }

 private:
  std::list<JobIndex> queues_[2];
  std::set<JobIndex> seen_;
};

TEST(Guests, PlayTiresiasAsPolluxsOwnLoopDoes) {
  const auto data = test::shared_data("pollux");
  if (!data) GTEST_SKIP() << "no shared data";
  const auto suite = make_suite("pollux-t4-64:w6", *data, 0);
  ASSERT_TRUE(suite) << suite.error().text;
  PolluxTiresiasGuest policy;
  const auto guest = suite->host(*suite, policy, {});
  ASSERT_TRUE(guest) << guest.error().text;
  expect_same_times(*guest, play(*suite, "tiresias", 0));
}

/// Another policy, and the times at which it decided.
class Recorded final : public Policy {
 public:
  explicit Recorded(Policy& policy) : policy_(policy) {}
  std::vector<Grant> decide(const PolicyState& state) override {
    times.push_back(state.now);
    return policy_.decide(state);
  }
  [[nodiscard]] Information information() const override { return policy_.information(); }
  [[nodiscard]] bool hears() const override { return policy_.hears(); }
  [[nodiscard]] bool moves_jobs() const override { return policy_.moves_jobs(); }
  [[nodiscard]] double wake(double now) const override { return policy_.wake(now); }
  std::vector<double> times;

 private:
  Policy& policy_;
};

std::vector<double> decision_times(const Suite& suite, const std::string& name) {
  const auto policy =
      find_policy(name)->make({suite.cluster, suite.jobs, 0, Information::kLearned});
  Recorded recorded(*policy);
  const auto record = suite.host(suite, recorded, {});
  EXPECT_TRUE(record) << (record ? "" : record.error().text);
  EXPECT_TRUE(std::ranges::all_of(record->jobs, &JobResult::finished)) << suite.name << name;
  return recorded.times;
}

TEST(Guests, DecideWhereGavelRecomputes) {
  const Suite suite = gavel_suite(4);
  for (const char* name : {"fifo", "rubato-place"}) {
    const std::vector<double> times = decision_times(suite, name);
    ASSERT_GT(times.size(), 3U);
    for (std::size_t i = 1; i < times.size(); ++i) {
      if (times[i - 1] > 0) {
        EXPECT_GE(times[i] - times[i - 1], 1920) << name;
      }
    }
  }
  // A job starts at a decision, never at its arrival or at the end of another job.
  const std::vector<double> times = decision_times(suite, "rubato-place");
  for (const JobResult& job : play(suite, "rubato-place@peer", 0).jobs) {
    EXPECT_EQ(job.restarts, 0);
    EXPECT_TRUE(std::ranges::find(times, job.first_start) != times.end()) << job.first_start;
  }
}

TEST(Guests, ThatMoveJobsDecideInEachOfGavelsRounds) {
  const Suite suite = gavel_suite(4);
  const std::vector<double> times = decision_times(suite, "rubato");
  ASSERT_GT(times.size(), 3U);
  for (std::size_t i = 1; i < times.size(); ++i)
    EXPECT_LE(times[i] - times[i - 1], 360) << "a round ends with its last task";
}

TEST(Guests, DecideEveryMinuteAndPayThePeersCosts) {
  for (const auto& [name, part] : {std::pair("sia-het64:philly-1", "sia"),
                                   {"pollux-t4-64:w6", "pollux"},
                                   {"rubick-a800-64", "rubick"}}) {
    const auto data = test::shared_data(part);
    if (!data) GTEST_SKIP() << "no shared data";
    auto suite = make_suite(name, *data, 0);
    ASSERT_TRUE(suite) << suite.error().text;
    suite->jobs.resize(10);
    for (const char* policy : {"fifo", "rubato-place"}) {
      for (const double time : decision_times(*suite, policy)) {
        EXPECT_EQ(std::fmod(time, 60), 0) << name << " " << policy;
      }
      const RunMetrics record = play(*suite, std::string(policy) + "@peer", 0);
      for (std::size_t j = 0; j < record.jobs.size(); ++j) {
        const JobResult& job = record.jobs[j];
        EXPECT_EQ(std::fmod(job.first_start, 60), 0) << name << " " << policy;
        EXPECT_GT(job.finish - job.first_start, suite->jobs[j].start_s) << name << " " << policy;
        EXPECT_EQ(job.restarts, 0);
      }
    }
  }
}

TEST(Guests, RulesAreNeverMixed) {
  const Suite suite = gavel_suite(5);
  Suite without = suite;
  without.rules = nullptr;
  without.host = nullptr;
  const RunMetrics own = play(suite, "fifo", 0);
  EXPECT_EQ(own.rules, "gavel");
  EXPECT_TRUE(same(own, play(suite, "fifo@peer", 0))) << "the peer knows this policy itself";
  const RunMetrics engine = play(suite, "fifo@engine", 0);
  EXPECT_EQ(engine.rules, "engine");
  EXPECT_FALSE(same(own, engine));
  EXPECT_TRUE(same(engine, play(without, "fifo", 0)));
  for (const char* name : {"rubato-place", "backfill"}) {
    const RunMetrics usual = play(suite, name, 0);
    EXPECT_EQ(usual.rules, "engine");
    EXPECT_TRUE(same(usual, play(without, name, 0)));
    const RunMetrics hosted = play(suite, std::string(name) + "@peer", 0);
    EXPECT_EQ(hosted.rules, "gavel");
    EXPECT_FALSE(same(usual, hosted));
    EXPECT_EQ(hosted.information, usual.information);
    EXPECT_TRUE(same(hosted, play(suite, std::string(name) + "@peer", 0))) << "not the same again";
  }
  const auto none = run_suite(without, "rubato-place@peer", Information::kKnown, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "no peer's rules for policy rubato-place in suite drawn");
  EXPECT_EQ(known_to("rubato-place@peer", Information::kBlind), "blind");
}

TEST(Guests, AGrantThatDoesNotFitFailsTheRun) {
  class Greedy final : public Policy {
   public:
    std::vector<Grant> decide(const PolicyState& state) override {
      std::vector<Grant> grants;
      for (const JobView& view : state.jobs) grants.push_back({0, view.job->gpus, {}, 0, ""});
      return grants;
    }
  };
  Greedy greedy;
  const auto record = host_gavel(gavel_suite(1), greedy, {});
  ASSERT_FALSE(record);
  EXPECT_NE(record.error().text.find("GPUs of v100, where there is no room"), std::string::npos)
      << record.error().text;
}

/// Measurements of a small model on one and two GPUs, and of llama30 in two of its shapes.
RubickTimes rubick_times() {
  RubickData data;
  const auto add = [&](const char* name, const char* plan, int nodes, int gpus, double seconds) {
    RubickProfile profile;
    profile.name = name;
    RubickProfileRow row;
    row.plan_name = plan;
    row.sample.configuration.nodes = nodes;
    row.sample.configuration.gpus = gpus;
    row.sample.step_seconds = seconds;
    profile.rows.push_back(row);
    data.profiles.push_back(profile);
  };
  add("bert", "ga", 1, 1, 2);
  add("bert", "gc", 1, 1, 4);
  add("bert", "gc", 1, 2, 3);
  add("llama30", "641", 6, 24, 5);
  add("llama30", "344", 6, 48, 3);
  return RubickTimes(data);
}

TEST(RubickNodes, GiveEachModelItsShapes) {
  const RubickTimes times = rubick_times();
  const ClusterShape cluster = parse_cluster_shape("a800:8x8").value();
  NodePool pool(cluster);
  SimJob small;
  small.model = "bert";
  SimJob large;
  large.model = "llama30";
  using Nodes = std::vector<NodeGpus>;
  EXPECT_EQ(rubick_nodes(times, small, {0, 2, {{3, 2}}, 0, ""}, pool), (Nodes{{3, 2}}));
  EXPECT_EQ(rubick_nodes(times, small, {0, 2, {{3, 1}, {4, 1}}, 0, ""}, pool), (Nodes{{0, 2}}))
      << "a small model stays on one node";
  ASSERT_TRUE(pool.take(0, {{0, 1}}, {}));
  EXPECT_EQ(rubick_nodes(times, small, {0, 2, {}, 0, ""}, pool), (Nodes{{1, 2}}))
      << "the node with most free GPUs";
  EXPECT_FALSE(rubick_nodes(times, small, {0, 4, {{3, 4}}, 0, ""}, pool)) << "not measured";
  EXPECT_EQ(rubick_nodes(times, large, {0, 24, {{1, 8}, {2, 8}, {3, 8}}, 0, ""}, pool),
            (Nodes{{0, 4}, {1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}}))
      << "no shape of this model has three nodes";
  EXPECT_FALSE(rubick_nodes(times, large, {0, 32, {}, 0, ""}, pool)) << "not measured";
  ASSERT_TRUE(pool.take(0, {{1, 8}, {2, 8}}, {}));
  EXPECT_FALSE(rubick_nodes(times, large, {0, 48, {}, 0, ""}, pool)) << "five whole nodes are free";
}

TEST(RubickTables, PromiseWhatWasMeasuredAsRequested) {
  const RubickTimes times = rubick_times();
  EXPECT_EQ(times.asked("bert", "gc", 1), 4);
  EXPECT_EQ(times.asked("bert", "zero-dp", 1), 2) << "gradient accumulation instead";
  EXPECT_EQ(times.asked("bert", "zero-dp", 2), 3) << "the mean over the plans measured there";
  EXPECT_FALSE(times.asked("bert", "gc", 4));
  EXPECT_FALSE(times.asked("llama30", "641", 24)) << "on one node";
}

}  // namespace
}  // namespace rubato::sim

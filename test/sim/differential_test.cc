// SPDX-License-Identifier: GPL-2.0-or-later
// Invariants of every policy on any workload and cluster: work is conserved, nothing is allocated
// twice, no job is lost. Neither a repetition nor a stop changes a figure.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lib/sim/engine/engine.h"
#include "lib/sim/engine/suite.h"
#include "test/sim/played.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

/// Faster on later types, slower on fragments, and slower in the second half for some models.
class CurveTruth final : public Truth {
 public:
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double done) const override {
    if (!setting.type.valid()) return 0;
    const double slow = job.more.contains("halves") && done >= job.work / 2 ? 0.5 : 1;
    return slow * std::pow(setting.gpus(), 0.8) * std::pow(2, setting.type.value()) /
           std::sqrt(setting.nodes());
  }
  [[nodiscard]] double next_change(const SimJob& job, double done) const override {
    return job.more.contains("halves") && done < job.work / 2 ? job.work / 2 : kNever;
  }
};

SimJob drawn_job(Draw& draw, int number, int most_gpus) {
  SimJob job;
  job.key = fmt::format("job{}", number);
  job.model = fmt::format("kind{}", draw.whole(0, 3));
  job.gpus = std::min(1 << draw.whole(0, 3), most_gpus);
  job.min_gpus = draw.uniform() < .5 ? job.gpus : std::max(1, job.gpus / 2);
  job.max_gpus = draw.uniform() < .5 ? job.gpus : std::min(most_gpus, job.gpus * 2);
  job.work = draw.whole(100, 20'000);
  job.weight = draw.whole(1, 3);
  job.batch = 64 << draw.whole(0, 2);
  job.min_batch = job.batch / 2;
  job.max_batch = job.batch * 2;
  job.start_s = draw.whole(0, 20);
  job.restart_s = draw.whole(0, 40);
  job.cores_per_gpu = draw.whole(0, 3);
  job.memory_per_gpu = draw.whole(0, 8) << 10;
  if (draw.uniform() < .2) job.time_limit = draw.whole(200, 20'000);
  if (draw.uniform() < .3) job.more["halves"] = "";
  return job;
}

/// Jobs that fit on some type, on a cluster of `types` types. With `events`, nodes go down and come
/// back. Otherwise some jobs have their own resize cost.
Suite drawn_suite(std::uint64_t seed, int types, bool events) {
  Draw draw(seed);
  Suite suite;
  suite.name = "drawn";
  int most = 0;
  for (int type = 0; type < types; ++type) {
    NodeGroup group;
    group.type = std::string(1, static_cast<char>('a' + type));
    group.nodes = draw.whole(2, 3);
    group.gpus_per_node = 1 << draw.whole(1, 3);
    group.cores = draw.uniform() < .5 ? 0 : 3 * group.gpus_per_node;
    group.memory = draw.uniform() < .5 ? 0 : (8L << 10) * group.gpus_per_node;
    most = std::max(most, group.nodes * group.gpus_per_node);
    suite.cluster.groups.push_back(group);
  }
  double time = 0;
  const int jobs = draw.whole(12, 30);
  for (int i = 0; i < jobs; ++i) {
    if (draw.uniform() < .7) time += draw.whole(0, 500);
    SimJob job = drawn_job(draw, i, most);
    job.arrival = time;
    if (!events && draw.uniform() < .5) job.resize_s = draw.whole(0, 10);
    suite.jobs.push_back(std::move(job));
  }
  for (int i = 0; events && i < 4; ++i) {
    const TypeIndex type{draw.whole(0, types - 1)};
    const GroupNodeIndex node{draw.whole(0, suite.cluster.groups[type].nodes - 1)};
    const double down = draw.whole(0, 4000);
    suite.node_events.push_back({down, type, node, false});
    suite.node_events.push_back({down + draw.whole(1, 2000), type, node, true});
  }
  std::stable_sort(suite.node_events.begin(), suite.node_events.end(),
                   [](const NodeEvent& a, const NodeEvent& b) { return a.time < b.time; });
  suite.truth = std::make_shared<CurveTruth>();
  if (draw.uniform() < .3) suite.grid = 60;
  return suite;
}

/// True if the policy needs more than these suites have.
bool unfit(const PolicyEntry& policy, const Suite& suite) {
  return policy.unfit != nullptr && !policy.unfit({suite.cluster, suite.jobs}).empty();
}

/// The periods in which a job holds GPUs; adjacent intervals are merged.
struct Stay {
  double from = 0;
  double to = 0;
  Setting setting;
};
std::vector<std::vector<Stay>> stays_of(const Suite& suite, const RunMetrics& record) {
  std::vector<std::vector<Stay>> stays(suite.jobs.size());
  for (const AllocationInterval& s : record.intervals) {
    auto& list = stays[s.job];
    if (list.empty() || list.back().from != s.from) list.push_back({s.from, s.to, {}});
    Stay& stay = list.back();
    EXPECT_EQ(stay.to, s.to);
    stay.setting.type = s.type;
    stay.setting.placement.push_back(s.gpus);
  }
  return stays;
}

/// What a change costs of which the seconds without progress are known, live and by a restart.
using ChangeCost = double (*)(double resize, double restart);

/// What a job did in its periods.
struct Integrated {
  double done = 0;   ///< work
  double spare = 0;  ///< seconds that it held GPUs with all work done
};

/// By the truth and its start costs.
Integrated integrated(const Suite& suite, const SimJob& job, const std::vector<Stay>& stays,
                      ChangeCost change) {
  Integrated sum;
  double& done = sum.done;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const Stay& stay = stays[i];
    double cost = i == 0 ? job.start_s : job.restart_s;
    if (i > 0 && stays[i - 1].to == stay.from && job.resize_s >= 0)
      cost = change(job.resize_s, job.restart_s);
    double left = std::max(0.0, stay.to - stay.from - cost);
    while (left > 0 && done < job.work) {
      const double throughput = suite.truth->throughput(job, stay.setting, done);
      const double until = std::min(job.work, suite.truth->next_change(job, done));
      const double spent = std::min(left, (until - done) / throughput);
      done += spent * throughput;
      if (spent < left) done = std::max(done, until);
      left -= spent;
    }
    sum.spare += left;
  }
  return sum;
}

/// Each node at each time is at most full, in GPUs, cores and memory, and empty while it is down.
void expect_room(const Suite& suite, const RunMetrics& record) {
  struct Change {
    double time;
    bool begins;
    int gpus;
    int cores;
    long memory;
    bool operator<(const Change& other) const {
      return std::tie(time, begins) < std::tie(other.time, other.begins);
    }
  };
  std::map<std::pair<TypeIndex, GroupNodeIndex>, std::vector<Change>> changes;
  for (const AllocationInterval& s : record.intervals) {
    const SimJob& job = suite.jobs[s.job];
    ASSERT_LT(s.from, s.to);
    ASSERT_GE(s.from, job.arrival);
    const int cores = s.gpus * job.cores_per_gpu;
    const long memory = s.gpus * job.memory_per_gpu;
    changes[{s.type, s.node}].push_back({s.from, true, s.gpus, cores, memory});
    changes[{s.type, s.node}].push_back({s.to, false, -s.gpus, -cores, -memory});
    double down = kNever;
    for (const NodeEvent& event : suite.node_events) {
      if (event.type != s.type || event.node != s.node || event.time > s.from) continue;
      down = event.up ? kNever : event.time;
    }
    ASSERT_EQ(down, kNever) << job.key << " starts on a node that is down";
    for (const NodeEvent& event : suite.node_events) {
      const bool inside = event.time > s.from && event.time < s.to;
      ASSERT_FALSE(event.type == s.type && event.node == s.node && !event.up && inside);
    }
  }
  for (auto& [node, list] : changes) {
    std::stable_sort(list.begin(), list.end());
    const NodeGroup& group = suite.cluster.groups[node.first];
    int gpus = 0;
    int cores = 0;
    long memory = 0;
    for (const Change& change : list) {
      gpus += change.gpus;
      cores += change.cores;
      memory += change.memory;
      ASSERT_LE(gpus, group.gpus_per_node);
      ASSERT_TRUE(group.cores == 0 || cores <= group.cores) << cores;
      ASSERT_TRUE(group.memory == 0 || memory <= group.memory) << memory;
    }
    ASSERT_EQ(gpus, 0);
  }
}

/// `chooses`: the policy may restart a job that could change while it runs.
void expect_sound(const Suite& suite, const RunMetrics& record, bool chooses) {
  expect_room(suite, record);
  const auto stays = stays_of(suite, record);
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    const SimJob& job = suite.jobs[i];
    const JobResult& result = record.jobs[i];
    double held = 0;
    double ran = 0;
    for (const Stay& stay : stays[i]) {
      held += (stay.to - stay.from) * stay.setting.gpus();
      ran += stay.to - stay.from;
    }
    EXPECT_NEAR(held, result.gpu_seconds, 1e-6 * (1 + held)) << job.key;
    const ChangeCost live = [](double resize, double) { return resize; };
    const ChangeCost less = [](double resize, double restart) { return std::min(resize, restart); };
    const ChangeCost more = [](double resize, double restart) { return std::max(resize, restart); };
    const Integrated early = integrated(suite, job, stays[i], chooses ? less : live);
    const Integrated late = integrated(suite, job, stays[i], chooses ? more : live);
    EXPECT_LE(late.spare, 1e-6 * (1 + ran)) << job.key << " ended late";
    if (result.finished()) {
      EXPECT_GE(early.done, job.work * (1 - 1e-6)) << job.key;
      EXPECT_FALSE(result.dropped);
    }
    if (result.dropped) {
      EXPECT_NEAR(ran, job.time_limit, 1e-6 * job.time_limit) << job.key;
    }
    // A job is finished, at its limit, or cannot run, and then it never held GPUs.
    EXPECT_TRUE(result.finished() || result.dropped || stays[i].empty()) << job.key;
  }
}

/// A policy, and what it is told.
struct Told {
  std::string policy;
  Information information = Information::kLearned;
};

class AnyPolicy : public testing::TestWithParam<Told> {};

/// Of `usual` seeds a quarter where a run takes many times as long as others: mode elastic, whose
/// many configurations are all fitted.
std::uint64_t seeds_of(const Told& told, std::uint64_t usual) {
  const bool fits =
      told.information == Information::kLearned || told.information == Information::kBlind;
  return test::seeds(told.policy == kRubato && fits ? usual / 4 : usual);
}

/// The number of types of the suite for a seed.
int types_for(std::uint64_t seed) { return 1 + static_cast<int>(seed % 3); }

TEST_P(AnyPolicy, KeepsWorkAndRoom) {
  for (std::uint64_t seed = 0; seed < seeds_of(GetParam(), 12); ++seed) {
    const Suite suite = drawn_suite(seed, types_for(seed), seed % 2 == 1);
    const auto& [policy, information] = GetParam();
    if (unfit(*find_policy(policy), suite)) continue;
    SCOPED_TRACE(fmt::format("{} on seed {}", policy, seed));
    const RunMetrics record = play(suite, policy, seed, information);
    expect_sound(suite, record, policy == kRubato);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(AnyPolicy, IsTheSameAgainAndAfterCuts) {
  for (std::uint64_t seed = 20; seed < 20 + seeds_of(GetParam(), 6); ++seed) {
    const Suite suite = drawn_suite(seed, types_for(seed), seed % 2 == 1);
    const auto& [name, information] = GetParam();
    const PolicyEntry& entry = *find_policy(name);
    if (unfit(entry, suite)) continue;
    SCOPED_TRACE(fmt::format("{} on seed {}", name, seed));
    const RunMetrics whole = play(suite, name, seed, information);
    EXPECT_TRUE(same(whole, play(suite, name, seed, information)));
    const auto policy = entry.make({suite.cluster, suite.jobs, seed, information});
    Engine engine(suite, *policy, seed, true);
    bool done = false;
    for (double until = 300; !done; until += 777) {
      RunControl control;
      control.until = until;
      const auto ran = engine.run(control);
      ASSERT_TRUE(ran) << ran.error().text;
      done = *ran;
    }
    EXPECT_TRUE(same(whole, engine.record()));
  }
}

std::vector<std::string> engine_policies() {
  std::vector<std::string> names;
  const std::set<std::string> ruled{"pollux", "rubick", "rubick-honest", "sia"};
  for (const PolicyEntry& entry : policies()) {
    if (!ruled.contains(entry.name)) names.push_back(entry.name);
  }
  return names;
}

/// Each policy, and Rubato with each word of --information.
std::vector<Told> each_told() {
  std::vector<Told> all;
  for (const std::string& name : engine_policies()) all.push_back({name, Information::kLearned});
  for (const auto information : {Information::kKnown, Information::kRates, Information::kBlind}) {
    for (const char* policy : {kRubato, kRubatoPlace}) all.push_back({policy, information});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Policies, AnyPolicy, testing::ValuesIn(each_told()),
                         [](const auto& given) {
                           const bool usual = given.param.information == Information::kLearned;
                           std::string name = given.param.policy;
                           if (!usual)
                             name += fmt::format("-{}", to_string(given.param.information));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Policies, AreAllTriedOnSomeDrawnSuite) {
  for (const std::string& name : engine_policies()) {
    int tried = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      tried += unfit(*find_policy(name), drawn_suite(seed, types_for(seed), seed % 2 == 1)) ? 0 : 1;
    }
    EXPECT_GT(tried, 2) << name;
  }
}

}  // namespace
}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
// What holds for every policy of the table on any workload and cluster: work is conserved, nothing
// is given twice, no job is lost, and neither a repetition nor a cut, the order of rows or the
// names of models and GPU types change a figure.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "lib/sim/engine.h"
#include "lib/sim/format_native.h"
#include "lib/sim/noise.h"
#include "lib/sim/peers/formats.h"
#include "lib/sim/suite.h"
#include "test/support/shared_data.h"

namespace rubato::sim {
namespace {

/// Draws by name.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  /// A whole number in least..most.
  int whole(int least, int most) {
    return least + static_cast<int>(uniform() * (most - least + 1));
  }
  double uniform() { return uniform_noise(seed_, 77, number_++); }
  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[static_cast<std::size_t>(whole(0, static_cast<int>(i) - 1))]);
    }
  }

 private:
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
};

/// Faster on later types, slower in pieces, and slower in the second half where a model says so.
class CurveTruth final : public Truth {
 public:
  [[nodiscard]] double rate(const SimJob& job, const Setting& setting, double done) const override {
    if (setting.type < 0) return 0;
    const double slow = job.more.contains("halves") && done >= job.work / 2 ? 0.5 : 1;
    return slow * std::pow(setting.gpus(), 0.8) * std::pow(2, setting.type) /
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

/// Jobs that fit on some type, on a cluster of `types` types. With `events` nodes go down and come
/// back; else some jobs have a cost of resizing of their own.
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
    const int type = draw.whole(0, types - 1);
    const int node = draw.whole(0, suite.cluster.groups[static_cast<std::size_t>(type)].nodes - 1);
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

/// Needs more of a suite than these have.
bool unfit(const PolicyEntry& policy, const Suite& suite) {
  return policy.unfit != nullptr && !policy.unfit({suite.cluster, suite.jobs}).empty();
}

RunRecord play(const Suite& suite, const std::string& policy, std::uint64_t seed = 1) {
  RunControl control;
  control.seed = seed;
  control.segments = true;
  auto record = run_suite(suite, policy, Information::kLearned, control);
  EXPECT_TRUE(record) << policy << ": " << (record ? "" : record.error().text);
  return record.value_or(RunRecord{});
}

/// The segments of each job, those of one stay together.
struct Stay {
  double from = 0;
  double to = 0;
  Setting setting;
};
std::vector<std::vector<Stay>> stays_of(const Suite& suite, const RunRecord& record) {
  std::vector<std::vector<Stay>> stays(suite.jobs.size());
  for (const Segment& s : record.segments) {
    auto& list = stays[static_cast<std::size_t>(s.job)];
    if (list.empty() || list.back().from != s.from) list.push_back({s.from, s.to, {}});
    Stay& stay = list.back();
    EXPECT_EQ(stay.to, s.to);
    stay.setting.type = s.type;
    stay.setting.placement.push_back(s.gpus);
  }
  return stays;
}

/// Work done over a job's stays, by the truth and the costs of its starts.
double integrated(const Suite& suite, const SimJob& job, const std::vector<Stay>& stays) {
  double done = 0;
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const Stay& stay = stays[i];
    double cost = i == 0 ? job.start_s : job.restart_s;
    if (i > 0 && stays[i - 1].to == stay.from && job.resize_s >= 0) cost = job.resize_s;
    double left = std::max(0.0, stay.to - stay.from - cost);
    while (left > 0 && done < job.work) {
      const double rate = suite.truth->rate(job, stay.setting, done);
      const double until = std::min(job.work, suite.truth->next_change(job, done));
      const double spent = std::min(left, (until - done) / rate);
      done += spent * rate;
      if (spent < left) done = std::max(done, until);
      left -= spent;
    }
  }
  return done;
}

/// Each node at each time at most full, in GPUs, cores and memory; nothing on a node that is down.
void expect_room(const Suite& suite, const RunRecord& record) {
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
  std::map<std::pair<int, int>, std::vector<Change>> changes;
  for (const Segment& s : record.segments) {
    const SimJob& job = suite.jobs[static_cast<std::size_t>(s.job)];
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
    const NodeGroup& group = suite.cluster.groups[static_cast<std::size_t>(node.first)];
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

void expect_sound(const Suite& suite, const RunRecord& record) {
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
    const double done = integrated(suite, job, stays[i]);
    if (result.finished()) {
      EXPECT_NEAR(done, job.work, 1e-6 * job.work) << job.key;
      EXPECT_FALSE(result.dropped);
    } else {
      EXPECT_LE(done, job.work * (1 + 1e-6)) << job.key;
    }
    if (result.dropped) {
      EXPECT_NEAR(ran, job.time_limit, 1e-6 * job.time_limit) << job.key;
    }
    // A job is finished, or at its limit, or it could not run: then nobody can have ever held it.
    EXPECT_TRUE(result.finished() || result.dropped || stays[i].empty()) << job.key;
  }
}

bool same(const RunRecord& a, const RunRecord& b) {
  return a.segments == b.segments && a.end == b.end && a.busy_gpu_seconds == b.busy_gpu_seconds &&
         std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(),
                    [](const JobResult& x, const JobResult& y) {
                      return x.finish == y.finish && x.restarts == y.restarts &&
                             x.first_start == y.first_start && x.gpu_seconds == y.gpu_seconds &&
                             x.dropped == y.dropped;
                    });
}

class AnyPolicy : public testing::TestWithParam<std::string> {};

/// With the number of types of a suite that is drawn from a seed.
int types_for(std::uint64_t seed) { return 1 + static_cast<int>(seed % 3); }

TEST_P(AnyPolicy, KeepsWorkAndRoom) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Suite suite = drawn_suite(seed, types_for(seed), seed % 2 == 1);
    if (unfit(*find_policy(GetParam()), suite)) continue;
    SCOPED_TRACE(fmt::format("{} on seed {}", GetParam(), seed));
    const RunRecord record = play(suite, GetParam(), seed);
    expect_sound(suite, record);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_P(AnyPolicy, IsTheSameAgainAndAfterCuts) {
  for (std::uint64_t seed = 20; seed < 26; ++seed) {
    const Suite suite = drawn_suite(seed, types_for(seed), seed % 2 == 1);
    const PolicyEntry& entry = *find_policy(GetParam());
    if (unfit(entry, suite)) continue;
    SCOPED_TRACE(fmt::format("{} on seed {}", GetParam(), seed));
    const RunRecord whole = play(suite, GetParam(), seed);
    EXPECT_TRUE(same(whole, play(suite, GetParam(), seed)));
    const auto policy = entry.make({suite.cluster, suite.jobs, seed});
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
  const std::set<std::string> ruled{"optimus", "pollux", "rubick", "rubick-honest", "sia"};
  for (const PolicyEntry& entry : policies()) {
    if (!ruled.contains(entry.name)) names.push_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Policies, AnyPolicy, testing::ValuesIn(engine_policies()),
                         [](const auto& given) {
                           std::string name = given.param;
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

// Files of their own, in a folder that goes away.
class Files : public testing::Test {
 protected:
  Files() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / fmt::format("diff_{}", test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& heading,
                    const std::vector<std::string>& rows) const {
    const std::string path = (folder_ / name).string();
    std::ofstream out(path);
    out << heading << '\n';
    for (const std::string& row : rows) out << row << '\n';
    return path;
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// By key, what became of a job, whatever the order in the file.
std::map<std::string, std::pair<double, int>> by_key(const Suite& suite, const RunRecord& record) {
  std::map<std::string, std::pair<double, int>> out;
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    out[suite.jobs[i].key] = {record.jobs[i].finish, record.jobs[i].restarts};
  }
  return out;
}

const char* const kNative = "job,arrival_s,gpus,work,model,min_gpus,max_gpus,batch,types";
const char* const kSpeeds = "model,gpu_type,gpus,rate";

/// Three models and two types under these names.
struct Names {
  std::vector<std::string> models;
  std::vector<std::string> types;
};

std::vector<std::string> native_rows(const Names& names) {
  Draw draw(3);
  std::vector<std::string> rows;
  for (int i = 0; i < 40; ++i) {
    const int gpus = 1 << draw.whole(0, 2);
    const bool bound = draw.uniform() < .2;
    const std::string& model = names.models[static_cast<std::size_t>(draw.whole(0, 2))];
    rows.push_back(fmt::format("j{},{},{},{},{},{},{},64,{}", i, 60 * draw.whole(0, 60), gpus,
                               draw.whole(100, 9000), model, gpus, gpus,
                               bound ? names.types[1] : ""));
  }
  return rows;
}

std::vector<std::string> speed_rows(const Names& names) {
  std::vector<std::string> rows;
  for (int m = 0; m < 3; ++m) {
    for (int t = 0; t < 2; ++t) {
      for (const int gpus : {1, 2, 4}) {
        const double rate = (1 + m) * std::pow(gpus, .9) * (m == t ? 2 : 1);
        rows.push_back(fmt::format("{},{},{},{}", names.models[static_cast<std::size_t>(m)],
                                   names.types[static_cast<std::size_t>(t)], gpus, rate));
      }
    }
  }
  return rows;
}

ClusterShape cluster_of(const Names& names) {
  return parse_cluster_shape(fmt::format("{}:2x4,{}:3x2", names.types[0], names.types[1])).value();
}

const std::vector<std::string> kAnywhere{"backfill",  "equal",        "fifo",     "fifo-het",
                                         "gavel-las", "gavel-maxsum", "gavel-wf", "gavel-makespan",
                                         "las",       "rubato",       "tiresias"};

TEST_F(Files, TheOrderOfRowsChangesNothing) {
  const Names names{{"m0", "m1", "m2"}, {"a", "b"}};
  std::vector<std::string> rows = native_rows(names);
  const std::string speeds = write("speeds.csv", kSpeeds, speed_rows(names));
  const auto suite_of = [&](const std::string& file) {
    return *read_native_suite(write(file, kNative, rows), speeds, cluster_of(names));
  };
  const Suite suite = suite_of("one.csv");
  Draw draw(8);
  draw.shuffle(rows);
  const Suite other = suite_of("two.csv");
  for (const std::string& policy : kAnywhere) {
    const RunRecord a = play(suite, policy);
    const RunRecord b = play(other, policy);
    EXPECT_TRUE(same(a, b)) << policy;
    EXPECT_EQ(by_key(suite, a), by_key(other, b)) << policy;
  }
}

TEST_F(Files, NamesOfModelsAndTypesChangeNothing) {
  const Names names{{"m0", "m1", "m2"}, {"a", "b"}};
  const Names others{{"zeta", "alpha", "m"}, {"v9", "Quick"}};  // in another order, too
  const auto suite_of = [&](const Names& of, const std::string& file) {
    return *read_native_suite(write(file, kNative, native_rows(of)),
                              write("speeds-" + file, kSpeeds, speed_rows(of)), cluster_of(of));
  };
  const Suite suite = suite_of(names, "one.csv");
  const Suite other = suite_of(others, "two.csv");
  for (const std::string& policy : kAnywhere) {
    EXPECT_TRUE(same(play(suite, policy), play(other, policy))) << policy;
  }
}

TEST_F(Files, NativeErrorsNameThePlace) {
  const ClusterShape cluster = parse_cluster_shape("a:1x4").value();
  const std::string jobs = write("jobs.csv", "job,arrival_s,gpus,run_s", {"one,0,0,10"});
  EXPECT_EQ(read_native_suite(jobs, "", cluster).error().text,
            jobs + ":2:7: gpus '0': expected a whole number from 1 to 65536");
  const std::string good = write("good.csv", "job,arrival_s,gpus,run_s", {"one,0,1,10"});
  const std::string speeds = write("speeds.csv", kSpeeds, {"m,a,1,2", "m,a,x,2"});
  EXPECT_EQ(read_native_suite(good, speeds, cluster).error().text,
            speeds + ":3:5: gpus 'x': expected a whole number");
}

/// The lines of a CSV file, with a heading.
std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// The peers' rules know applications by how they train: in a copy of the data under other names,
// and with the rows in another order, every figure is as it was.
TEST_F(Files, TheRulesOfPeersKnowNoNames) {
  const auto data = test::shared_data("sia");
  if (!data) GTEST_SKIP() << "no shared data";
  const std::filesystem::path traces = std::filesystem::path(*data) / "sia/traces";
  const std::map<std::string, std::string> types{
      {"aws", "one"}, {"dgx-ext", "two"}, {"rtx", "any"}};
  std::map<std::string, std::string> apps;
  for (const auto& entry : std::filesystem::directory_iterator(traces)) {
    const std::string app = entry.path().filename().string();
    apps[app] = fmt::format("app-{:x}", mix_bits(std::hash<std::string>{}(app)) & 0xffffU);
    std::filesystem::create_directory(folder() / apps[app]);
    for (const auto& file : std::filesystem::directory_iterator(entry.path())) {
      std::string name = file.path().filename().string();
      if (!name.starts_with("validation")) {
        const auto type = std::find_if(types.begin(), types.end(), [&](const auto& one) {
          return name.ends_with("-" + one.first + ".csv");
        });
        if (type == types.end()) continue;
        name = name.substr(0, name.find('-')) + "-" + type->second + ".csv";
      }
      std::filesystem::create_symlink(std::filesystem::absolute(file.path()),
                                      folder() / apps[app] / name);
    }
  }
  const std::string workload = *data + "/sia/workloads/saturn/workload-1.csv";
  std::vector<std::string> lines = lines_of(workload);
  const std::string heading = lines.front();
  lines.erase(lines.begin());
  lines.resize(60);
  const std::string before = write("before.csv", heading, lines);
  for (std::string& line : lines) {
    const std::size_t app = line.find(',', line.find(',') + 1) + 1;
    const std::size_t size = line.find(',', app) - app;
    line.replace(app, size, apps.at(line.substr(app, size)));
  }
  Draw(4).shuffle(lines);
  const std::string after = write("after.csv", heading, lines);
  const auto suite = read_sia_suite(before, traces.string(),
                                    parse_cluster_shape("aws:6x4,dgx-ext:2x8,rtx:3x8").value());
  const auto other = read_sia_suite(after, folder().string(),
                                    parse_cluster_shape("one:6x4,two:2x8,any:3x8").value());
  ASSERT_TRUE(suite) << suite.error().text;
  ASSERT_TRUE(other) << other.error().text;
  for (const char* policy : {"sia", "gavel-maxsum", "fifo-het", "rubato"}) {
    EXPECT_TRUE(same(play(*suite, policy), play(*other, policy))) << policy;
  }
}

}  // namespace
}  // namespace rubato::sim

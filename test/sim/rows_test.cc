// SPDX-License-Identifier: GPL-2.0-or-later
// Neither the order of rows in a file nor the names of models and GPU types change a figure.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "lib/sim/formats/format_native.h"
#include "lib/sim/peers/formats.h"
#include "test/sim/played.h"
#include "test/support/shared_data.h"

namespace rubato::sim {
namespace {

// Creates files in a temporary folder.
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

/// The result of each job by key, whatever its position in the file.
std::map<std::string, std::pair<double, int>> by_key(const Suite& suite, const RunMetrics& record) {
  std::map<std::string, std::pair<double, int>> out;
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    out[suite.jobs[i].key] = {record.jobs[i].finish, record.jobs[i].restarts};
  }
  return out;
}

const char* const kNative = "job,arrival_s,gpus,work,model,min_gpus,max_gpus,batch,types";
const char* const kSpeeds = "model,gpu_type,gpus,rate";

/// The names of three models and two types.
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
        const double throughput = (1 + m) * std::pow(gpus, .9) * (m == t ? 2 : 1);
        rows.push_back(fmt::format("{},{},{},{}", names.models[static_cast<std::size_t>(m)],
                                   names.types[static_cast<std::size_t>(t)], gpus, throughput));
      }
    }
  }
  return rows;
}

ClusterShape cluster_of(const Names& names) {
  return parse_cluster_shape(fmt::format("{}:2x4,{}:3x2", names.types[0], names.types[1])).value();
}

const std::vector<std::string> kAnywhere{"backfill",       "easy",      "equal",        "fifo",
                                         "fifo-het",       "gavel-las", "gavel-maxsum", "gavel-wf",
                                         "gavel-makespan", "las",       "rubato-place", "tiresias"};

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
    const RunMetrics a = play(suite, policy);
    const RunMetrics b = play(other, policy);
    EXPECT_TRUE(same(a, b)) << policy;
    EXPECT_EQ(by_key(suite, a), by_key(other, b)) << policy;
  }
}

TEST_F(Files, NamesOfModelsAndTypesChangeNothing) {
  const Names names{{"m0", "m1", "m2"}, {"a", "b"}};
  const Names others{{"zeta", "alpha", "m"}, {"v9", "Quick"}};  // with another sort order
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

/// The lines of a CSV file, including the heading.
std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

// The peers' rules recognise applications by their training. A copy of the data with other names
// and another order of rows gives the same figures.
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
  for (const char* policy : {"sia", "gavel-maxsum", "fifo-het", "rubato-place"}) {
    EXPECT_TRUE(same(play(*suite, policy), play(*other, policy))) << policy;
  }
}

}  // namespace
}  // namespace rubato::sim

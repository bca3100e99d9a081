// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the measurements of execution plans and fits the model to them.
#include "lib/validate/validate_rubick.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "lib/validate/data_rubick.h"
#include "test/support/shared_data.h"

namespace rubato::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig =
    "nodes,gpus,parameter_size,batch_size,seq_hid,num_cpu_threads,zero_type,is_tp,is_pp\n"
    "1,8,320.5,1,100,1,0,0,0\n"
    "1,4,320.5,1,100,4,1,0,0\n"
    "1,2,320.5,1,100,1,2,0,0\n";
constexpr const char* kData =
    "forward_time,Tcc,Topt,iter_time,strategy\n"
    "40,83,25,157,1100\n63,158,148,376,1111\n120,210,20,360,1102\n";
constexpr const char* kProfile =
    "exec_plan,placement,iter_time,forward,overlap_sync,optimize\n"
    "ga,8,0.157,40,83,25\n"
    "zero-offload,4,0.376,63,158,148\n"
    "zero-dp,2,0.36,120,210,20\n"
    "241,44,1.5,0,1400,50\n"
    "gc,1,0,0,0,0\n";

class RubickFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "rubato-rubick-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("perf_model_validation/one/config.csv", kConfig);
    write("perf_model_validation/one/data.csv", kData);
    write("profiles/uno/placements.csv", kProfile);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }

  std::string error() {
    const auto data = read_rubick(folder_);
    return data ? "read" : data.error().text.substr(folder_.string().size() + 1);
  }

  fs::path folder_;
};

TEST_F(RubickFiles, AreReadInSeconds) {
  const auto data = read_rubick(folder_);
  ASSERT_TRUE(data.has_value()) << data.error().text;
  ASSERT_EQ(data->fit_sets.size(), 1U);
  const RubickFitRow& row = data->fit_sets[0].rows[1];
  EXPECT_EQ(to_text(row.sample.plan), "zero-offload=4");
  EXPECT_EQ(row.sample.configuration.cores_per_gpu, 4);
  EXPECT_DOUBLE_EQ(row.sample.step_seconds, 0.376);
  EXPECT_DOUBLE_EQ(row.sample.tail_seconds, 0.158);
  EXPECT_EQ(to_text(data->fit_sets[0].rows[2].sample.plan), "zero=2");
  ASSERT_EQ(data->profiles[0].rows.size(), 4U);  // unmeasured rows are omitted
  const RubickProfileRow& split = data->profiles[0].rows[3];
  EXPECT_EQ(to_text(split.sample.plan), "tp=4,pp=2");
  EXPECT_EQ(split.sample.configuration.nodes, 2);
  EXPECT_EQ(split.line, 5U);
  EXPECT_DOUBLE_EQ(data->profiles[0].rows[0].sample.forward_seconds, 0.04);
}

TEST_F(RubickFiles, NameThePlaceOfWhatIsWrong) {
  const std::string config = "perf_model_validation/one/config.csv";
  const std::string profile = "profiles/uno/placements.csv";
  const std::string heads = "exec_plan,placement,iter_time,forward,overlap_sync,optimize\n";
  write(profile, heads + "ga,8,0.1,1,1,1\nga,80,0.1,1,1,1\n");
  EXPECT_EQ(error(),
            profile + ":3:4: placement '80': expected a digit from 1 to 9 for each node, as in 88");
  write(profile, heads + "zero,8,0.1,1,1,1\n");
  EXPECT_EQ(error(), profile +
                         ":2:1: exec_plan 'zero': expected ga, gc, zero-dp, zero-offload, tp, "
                         "several with + between, or three digits such as 241");
  write(profile, heads + "222,4,0.1,1,1,1\n");
  EXPECT_EQ(error(), profile +
                         ":2:1: exec_plan '222': the degrees make 8 GPUs, expected the 4 of the "
                         "placement");
  write(profile, heads + "ga,8,fast,1,1,1\n");
  EXPECT_EQ(error().substr(0, profile.size() + 5), profile + ":2:6:");
  write(profile, "exec_plan,placement,iter\nga,8,1\n");
  EXPECT_NE(error().find("iter_time"), std::string::npos);
  write(profile, kProfile);
  write(config, std::string(kConfig) + "1,8,1,1,1,1,0,0,0\n");
  EXPECT_EQ(error(),
            "perf_model_validation/one/data.csv: 3 rows, expected as many as in config.csv beside "
            "it (4), and one at least");
  std::string other = kConfig;
  other.replace(other.find("1,8,320.5"), 9, "1,8,000.0");
  write(config, other);
  EXPECT_EQ(error(), config + ":2:5: parameter_size '000.0': expected a number above 0");
  other = kConfig;
  other.replace(other.find("4,1,0,0\n"), 7, "4,7,0,0");
  write(config, other);
  EXPECT_EQ(error(), config + ":3:19: zero_type '7': expected a whole number from 0 to 2");
  write(config, kConfig);
  EXPECT_EQ(error(), "read");
  fs::remove_all(folder_ / "profiles");
  EXPECT_NE(error().find("profiles"), std::string::npos);
}

double figure(const ValidateSection& section, const std::string& name) {
  for (const auto& [key, value] : section.summary) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no " << name;
  return -1;
}

TEST(ValidateRubick, HoldsWhatTheAuthorsReport) {
  const auto data = shared_data("rubick");
  if (!data) GTEST_SKIP() << "no shared data";
  const auto section = validate_rubick(*data);
  ASSERT_TRUE(section.has_value()) << section.error().text;
  for (const auto& [name, holds] : section->gates) EXPECT_TRUE(holds) << name;
  EXPECT_EQ(figure(*section, "cells"), 9);
  EXPECT_LE(figure(*section, "reachable_mean_of_means"), 0.0405);
  EXPECT_LE(figure(*section, "reachable_max"), 0.104);
  // No member of the family fits these rows, so a better fit is impossible.
  EXPECT_EQ(figure(*section, "unreachable_rows"), 1);
  EXPECT_GT(figure(*section, "best_fit_max"), 0.104);
  EXPECT_LT(figure(*section, "mean_of_means"), figure(*section, "published_mean_of_means"));
}

// Folders with other names, in another order, different in both places.
TEST(ValidateRubick, KnowsNoNames) {
  const auto data = shared_data("rubick");
  if (!data) GTEST_SKIP() << "no shared data";
  std::string name = fs::temp_directory_path() / "rubato-renamed-XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path copy = name;
  for (const char* part : {"perf_model_validation", "profiles"}) {
    int number = 99;
    fs::create_directories(copy / "rubick" / part);
    for (const auto& entry : fs::directory_iterator(fs::path(*data) / "rubick" / part)) {
      if (!entry.is_directory()) continue;
      fs::copy(entry.path(), copy / "rubick" / part / ("x" + std::to_string(number--)),
               fs::copy_options::recursive);
    }
  }
  const auto real = validate_rubick(*data);
  const auto renamed = validate_rubick(copy);
  fs::remove_all(copy);
  ASSERT_TRUE(real.has_value() && renamed.has_value());
  EXPECT_EQ(real->summary, renamed->summary);
  EXPECT_EQ(real->gates, renamed->gates);
  EXPECT_EQ(real->observations.size(), renamed->observations.size());
}

}  // namespace
}  // namespace rubato::test

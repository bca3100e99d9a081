// SPDX-License-Identifier: GPL-2.0-or-later
// The data that sbatch, salloc and srun pass to slurmctld for given options and variables.
#include "plugin/spank/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "lib/hints/table.h"
#include "lib/json/task_env.h"
#include "plugin/spank/carried.h"
#include "plugin/spank/contexts.h"
#include "test/spank/fake_spank.h"

namespace rubato {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

class Client : public testing::Test {
 protected:
  void SetUp() override {
    clearenv();
    new_fake_spank();
    forget_options();
  }

  /// sbatch with these options; a null value means no value.
  static void submit(const std::vector<std::pair<std::string, const char*>>& options) {
    allocator_init(nullptr);
    for (const auto& [name, value] : options) EXPECT_EQ(fake_spank().give(name, value), 0) << name;
    allocator_options_done(nullptr);
  }
};

TEST_F(Client, RegistersEveryOptionOfTheTableWithItsTwin) {
  allocator_init(nullptr);
  const auto& options = fake_spank().options;
  ASSERT_EQ(options.size(), 2 * hint_table().size());
  for (std::size_t i = 0; i < options.size(); ++i) {
    const HintDef& def = hint_table()[i / 2];
    const bool twin = i % 2 == 1;
    EXPECT_EQ(options[i].name, twin ? "no-dl-" + def.key : "dl-" + def.key);
    EXPECT_EQ(options[i].has_arg, !twin && def.type != HintType::kFlag ? 1 : 0) << def.key;
    EXPECT_THAT(options[i].usage, testing::StartsWith("[rubato] "));
    EXPECT_EQ(options[i].val, static_cast<int>(i));
  }
}

TEST_F(Client, EveryOptionReachesSlurmctld) {
  for (const HintDef& def : hint_table()) {
    SetUp();
    const bool flag = def.type == HintType::kFlag;
    submit({{def.option, flag ? nullptr : def.example.c_str()}});
    EXPECT_THAT(fake_spank().control, ElementsAre(Pair(def.variable, flag ? "yes" : def.example)));
    SetUp();
    submit({{def.off_option, nullptr}});
    EXPECT_THAT(fake_spank().control, ElementsAre(Pair(def.variable + "_UNSET", "1")));
    SetUp();
    setenv(def.variable.c_str(), def.example.c_str(), 1);
    submit({});
    EXPECT_THAT(fake_spank().control,
                ElementsAre(Pair("RUBATO_DLENV_" + def.variable.substr(10), def.example)));
    EXPECT_EQ(getenv(def.variable.c_str()), nullptr) << "left for what is submitted inside";
  }
}

TEST_F(Client, TheLastOfSeveralCounts) {
  submit({{"dl-gpus", "1"},
          {"no-dl-gpus", nullptr},
          {"dl-gpus", "2"},
          {"dl-batch", "8"},
          {"no-dl-batch", nullptr}});
  EXPECT_THAT(fake_spank().control, UnorderedElementsAre(Pair("RUBATO_DL_GPUS", "2"),
                                                         Pair("RUBATO_DL_BATCH_UNSET", "1")));
}

TEST_F(Client, OptionsAndVariablesGoOverApart) {
  setenv("RUBATO_DL_GPUS", "4", 1);
  setenv("RUBATO_DL_BATCH", "", 1);
  submit({{"dl-gpus", "1"}});
  EXPECT_THAT(fake_spank().control,
              UnorderedElementsAre(Pair("RUBATO_DL_GPUS", "1"), Pair("RUBATO_DLENV_GPUS", "4")));
}

TEST_F(Client, AWrongValueIsRefusedAtOnce) {
  allocator_init(nullptr);
  EXPECT_NE(fake_spank().give("dl-resize", "liv"), 0);
  EXPECT_THAT(fake_spank().said,
              ElementsAre("--dl-resize: \"liv\" is not one of none, restart, live; did you mean "
                          "live?"));
  EXPECT_THAT(given_options(), IsEmpty());
}

TEST_F(Client, ValuesAreNotCheckedWhereHintsAreIgnored) {
  check_values(false);
  allocator_init(nullptr);
  EXPECT_EQ(fake_spank().give("dl-resize", "liv"), 0);
  check_values(true);
  EXPECT_THAT(fake_spank().said, IsEmpty());
  EXPECT_THAT(given_options(), IsEmpty());
}

TEST_F(Client, WhatOnlyTogetherIsWrongEndsTheProgram) {
  EXPECT_EXIT(submit({{"dl-steps", "1"}, {"dl-samples", "2"}}), testing::ExitedWithCode(1), "");
  setenv("RUBATO_DL_GPU", "1", 1);
  EXPECT_EXIT(submit({}), testing::ExitedWithCode(1), "");
  setenv("RUBATO_DL_GPU", "", 1);
  submit({});
  EXPECT_THAT(fake_spank().control, IsEmpty());
}

TEST_F(Client, NothingOfAnEnclosingJobCounts) {
  setenv("SLURM_SPANK_RUBATO_DL_GPUS", "8", 1);
  setenv("SLURM_SPANK__SLURM_SPANK_OPTION_rubato_dl_gpus", "8", 1);
  setenv("_SLURM_SPANK_OPTION_rubato_dl_gpus", "8", 1);
  setenv("RUBATO_GPUS", "8", 1);
  setenv("RUBATO_REPORT_FILE", "/of/the/enclosing/job", 1);
  setenv("SLURM_SPANK_OTHER", "x", 1);
  setenv("_SLURM_SPANK_OPTION_other_dl_gpus", "x", 1);
  fake_spank().control["RUBATO_DL_GPUS"] = "8";  // as srun sets it from the first
  submit({{"dl-batch", "8"}});
  EXPECT_THAT(fake_spank().control, ElementsAre(Pair("RUBATO_DL_BATCH", "8")));
  std::vector<std::string> left;
  for (char** entry = environ; *entry != nullptr; ++entry) left.emplace_back(*entry);
  EXPECT_THAT(left,
              UnorderedElementsAre("SLURM_SPANK_OTHER=x", "_SLURM_SPANK_OPTION_other_dl_gpus=x"));
}

TEST_F(Client, ComponentsOfAHeterogeneousJobHaveTheirOwn) {
  setenv("RUBATO_DL_BATCH", "16", 1);
  submit({{"dl-gpus", "1"}});
  EXPECT_EQ(fake_spank().give("dl-job-type", "second"), 0);
  allocator_options_done(nullptr);
  EXPECT_THAT(fake_spank().control, UnorderedElementsAre(Pair("RUBATO_DL_JOB_TYPE", "second"),
                                                         Pair("RUBATO_DLENV_BATCH", "16")));
}

TEST_F(Client, SrunMakesAJobLikeSbatch) {
  setenv("RUBATO_DL_BATCH", "16", 1);
  local_init(nullptr);
  EXPECT_EQ(fake_spank().give("dl-gpus", "1"), 0);
  local_options_done(nullptr);
  EXPECT_THAT(fake_spank().control,
              UnorderedElementsAre(Pair("RUBATO_DL_GPUS", "1"), Pair("RUBATO_DLENV_BATCH", "16")));
}

TEST_F(Client, AStepHasNoHints) {
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("RUBATO_DL_BATCH", "x", 1);
  local_init(nullptr);
  local_options_done(nullptr);
  EXPECT_THAT(fake_spank().said, IsEmpty());
  EXPECT_EQ(fake_spank().give("dl-gpus", "1"), 0);
  local_options_done(nullptr);
  EXPECT_THAT(fake_spank().control, IsEmpty());
  EXPECT_THAT(fake_spank().said, ElementsAre(HasSubstr("--dl-gpus does not count here")));
  EXPECT_STREQ(getenv("RUBATO_DL_BATCH"), "x");
}

TEST_F(Client, SrunCarriesWhatWasDecidedPastExport) {
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("RUBATO_GPUS", "4", 1);
  setenv("SLURM_RUBATO_PLAN", "of an enclosing srun", 1);
  local_init(nullptr);
  local_options_done(nullptr);
  EXPECT_STREQ(getenv("RUBATO_GPUS"), "4");
  EXPECT_STREQ(getenv("SLURM_RUBATO_GPUS"), "4");
  EXPECT_EQ(getenv("SLURM_RUBATO_PLAN"), nullptr);
}

TEST(Carried, AreTheVariablesThatSlurmctldGives) {
  Job job;
  job.restarts = 1;
  for (const auto& [name, value] : task_env(job, {})) {
    EXPECT_TRUE(is_task_variable(name)) << name;
  }
}

TEST_F(Client, TheStepDaemonOnlyKnowsTheOptions) {
  register_options(nullptr);
  for (const spank_option& option : fake_spank().options) {
    EXPECT_EQ(option.cb(option.val, "nonsense", 1), 0);
  }
  EXPECT_THAT(given_options(), IsEmpty());
}

}  // namespace
}  // namespace rubato

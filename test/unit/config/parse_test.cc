// SPDX-License-Identifier: GPL-2.0-or-later
// Cases that test/golden/config.d cannot cover: failing includes, limits, shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/config/config.h"
#include "lib/config/options.h"

namespace rubato {
namespace {

std::string error_of(const Result<Config>& config) {
  return config ? "no error" : config.error().text;
}

TEST(ConfigParse, AnEmptyTextIsTheDefault) {
  const auto config = parse_config("", "rubato.conf");
  ASSERT_TRUE(config);
  EXPECT_EQ(*config, Config{});
}

TEST(ConfigParse, EveryErrorNamesPathAndLine) {
  EXPECT_EQ(error_of(parse_config("\n\nReserveDepht=4", "/etc/slurm/rubato.conf")),
            "/etc/slurm/rubato.conf:3: ReserveDepht: unknown option; did you mean ReserveDepth?");
}

TEST(ConfigParse, TestOnlyOptionsAreAcceptedAndSuggestedInTestsOnly) {
  const std::string text = "TestOff=gate TestInject=hang-round:30\n";
  const auto config = parse_config(text, "r", true);
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_TRUE(config->off(Mechanism::kGate));
  EXPECT_FALSE(config->off(Mechanism::kWalk));
  EXPECT_EQ(config->injected(Fault::kHangRound), 30);
  EXPECT_EQ(error_of(parse_config(text, "r")),
            "r:1: TestOff: only for tests; remove it (it is accepted with RUBATO_TESTING=1 in "
            "the environment)\n"
            "r:1: TestInject: only for tests; remove it (it is accepted with RUBATO_TESTING=1 in "
            "the environment)");
  EXPECT_EQ(error_of(parse_config("TestOf=gate", "r")),
            "r:1: TestOf: unknown option; see rubato.conf(5)");
  EXPECT_EQ(error_of(parse_config("TestOf=gate", "r", true)),
            "r:1: TestOf: unknown option; did you mean TestOff?");
}

TEST(ConfigParse, WithoutAFileSystemAnIncludeIsAnError) {
  EXPECT_EQ(error_of(parse_config("Include x.conf", "r")),
            "r:1: Include: \"x.conf\": included files cannot be read here");
}

TEST(ConfigParse, IncludesThatFormALoopAreNamed) {
  const MemoryFileSystem files(
      MemoryFileSystem::Files{{"d/a", "Include b"}, {"d/b", "\nInclude ../d/./a"}});
  EXPECT_EQ(error_of(parse_config("Include d/a", "r", false, &files)),
            "d/b:2: Include: d/a includes itself");
  const MemoryFileSystem self(MemoryFileSystem::Files{{"r", "Include r"}});
  EXPECT_EQ(error_of(parse_config("Include r", "r", false, &self)),
            "r:1: Include: r includes itself");
}

TEST(ConfigParse, TheSameFileTwiceIsNoLoop) {
  const MemoryFileSystem files(
      MemoryFileSystem::Files{{"a", "Include empty"}, {"empty", "# nothing"}});
  EXPECT_TRUE(parse_config("Include a\nInclude empty", "r", false, &files));
}

TEST(ConfigParse, DepthAndNumberOfIncludesHaveABound) {
  MemoryFileSystem::Files chain;
  MemoryFileSystem::Files tree;
  for (int i = 0; i < 20; ++i) {
    chain[std::to_string(i)] = "Include " + std::to_string(i + 1);
    const std::string next = "Include " + std::to_string(i + 1) + "\n";
    tree[std::to_string(i)] = i < 9 ? next + next : "# leaf";
  }
  const MemoryFileSystem deep(chain);
  EXPECT_EQ(error_of(parse_config("Include 0", "r", false, &deep)),
            "9:1: Include: \"10\" is nested deeper than 10 files");
  const MemoryFileSystem wide(tree);
  const std::string error = error_of(parse_config("Include 0", "r", false, &wide));
  EXPECT_NE(error.find("more than 100 included files"), std::string::npos) << error;
}

TEST(ConfigParse, AbsoluteIncludesAndMissingOnes) {
  const MemoryFileSystem files(MemoryFileSystem::Files{{"/else/x.conf", "LogLevel=debug"}});
  const auto config = parse_config("Include /else/x.conf", "/etc/slurm/rubato.conf", false, &files);
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(error_of(parse_config("Include x.conf", "/etc/slurm/rubato.conf", false, &files)),
            "/etc/slurm/rubato.conf:1: Include: /etc/slurm/x.conf: No such file or directory");
}

TEST(ConfigParse, ADuplicateInAnIncludedFileNamesBothPlaces) {
  const MemoryFileSystem files(MemoryFileSystem::Files{{"a", "\nLogLevel=debug"}});
  EXPECT_EQ(error_of(parse_config("LogLevel=info\nInclude a", "r", false, &files)),
            "a:2: LogLevel: set twice; first at r:1");
}

TEST(ConfigParse, AtMostAHundredErrorsAreListed) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "Wombat=1\n";
  const std::string error = error_of(parse_config(text, "r"));
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 100);
  EXPECT_TRUE(
      error.ends_with("r:100: Wombat: unknown option; see rubato.conf(5)\nr: 50 more errors"))
      << error;
}

TEST(ConfigParse, GpuTypesAreSortedByName) {
  const auto config = parse_config("GpuType=v100 Speed=0.5\nGpuType=a100\n", "r");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->gpu_types, (std::vector<GpuTypeConfig>{{"a100", 1.0}, {"v100", 0.5}}));
}

TEST(ConfigParse, JsonHasEveryOptionWithItsType) {
  const auto config = parse_config(
      "Mode=place ManagedPartitions=b,a RoundInterval=0.5 GpuType=a100 Speed=2\n", "r");
  ASSERT_TRUE(config);
  const auto json = nlohmann::json::parse(config_json(*config));
  EXPECT_EQ(json.at("schema"), "rubato.config/1");
  EXPECT_EQ(json.at("Mode"), "place");
  EXPECT_EQ(json.at("ManagedPartitions"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(json.at("HeartbeatTimeout").is_number_integer());
  EXPECT_EQ(json.at("RoundInterval"), 0.5);
  EXPECT_TRUE(json.at("PublishDir").is_null());
  EXPECT_EQ(json.at("GpuType").at(0).at("Speed"), 2.0);
  EXPECT_FALSE(json.contains("TestOff"));
  for (const Option& option : options()) {
    if (option.record.empty()) {
      EXPECT_TRUE(json.contains(option.name)) << option.name;
    }
  }
}

TEST(ConfigParse, JsonOfABytewiseNameIsStillJson) {
  const auto config = parse_config("ManagedPartitions=\xFF", "r");
  ASSERT_TRUE(config);
  EXPECT_TRUE(nlohmann::json::accept(config_json(*config)));
}

TEST(ConfigParse, ManagesTheAccountsAndTheQosThatItNames) {
  const auto config = parse_config("ManagedAccounts=vision,audio\nManagedQOS=training\n", "r");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_TRUE(config->manages_group("vision", "training"));
  EXPECT_FALSE(config->manages_group("vision", "normal"));
  EXPECT_FALSE(config->manages_group("physics", "training"));
  EXPECT_TRUE(Config().manages_group("physics", ""));
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Every option: valid values, invalid values, both ends of its range.
#include <gtest/gtest.h>

#include <set>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/config/options.h"
#include "lib/config/render.h"

namespace rubato {
namespace {

struct Good {
  const char* option;
  const char* value;
  const char* shown;  // the output of show_option
};

const Good kGood[] = {
    {"Mode", "observe", "observe"},
    {"Mode", "PLACE", "place"},
    {"Mode", "Elastic", "elastic"},
    {"ManagedPartitions", "gpu", "gpu"},
    {"ManagedPartitions", "b,a,B", "B,a,b"},  // sorted; the case is kept
    {"ManagedPartitions", "all", "all"},
    {"ManagedPartitions", "ALL", "all"},
    {"ManagedPartitions", "alls", "alls"},
    {"ManagedAccounts", "vision,Audio", "audio,vision"},  // slurmdbd keeps lower case
    {"ManagedQOS", "training", "training"},
    {"GuaranteedQOS", "high", "high"},
    {"MinRunTime", "10:00", "600"},
    {"RestartCost", "0", "0"},
    {"RestartCost", "24:00:00", "86400"},
    {"ResizeCost", "0", "0"},
    {"ResizeCost", "24:00:00", "86400"},
    {"RestartsPerJob", "0", "0"},
    {"RestartsPerJob", "1000000", "1000000"},
    {"RestartsPerJobDay", "0", "0"},
    {"RestartsPerJobDay", "1000000", "1000000"},
    {"RestartsPerUserDay", "0", "0"},
    {"RestartsPerUserDay", "1000000", "1000000"},
    {"GrowthCap", "16", "16"},
    {"GrowthCap", "normal:0,High:64", "high:64,normal:0"},
    {"HeartbeatTimeout", "1", "1"},
    {"HeartbeatTimeout", "0:30", "30"},
    {"HeartbeatTimeout", "3600", "3600"},
    {"RoundInterval", "0.1", "0.1"},
    {"RoundInterval", "600", "600"},
    {"RoundInterval", "10:00", "600"},
    {"RoundDeadline", "0.01", "0.01"},
    {"RoundDeadline", "600", "600"},
    {"ReserveDepth", "1", "1"},
    {"ReserveDepth", "1000", "1000"},
    {"ReserveAfter", "0", "0"},
    {"ReserveAfter", "30-00:00:00", "2592000"},
    {"StarvationBound", "1", "1"},
    {"StarvationBound", "365-00", "31536000"},
    {"PriorityBand", "AUTO", "auto"},
    {"PriorityBand", "inf", "inf"},
    {"PriorityBand", "0", "0"},
    {"PriorityBand", "4294967295", "4294967295"},
    {"LockSlice", "1", "1"},
    {"LockSlice", "1000", "1000"},
    {"PublishDir", "/var/lib/rubato", "/var/lib/rubato"},
    {"PublishDir", "/", "/"},
    {"PublishDir", "/with blank/#\\", "/with blank/#\\"},
    {"PublishInterval", "0.1", "0.1"},
    {"PublishInterval", "1:00:00", "3600"},
    {"StoreDir", "/var/lib/rubato", "/var/lib/rubato"},
    {"StoreRetentionDays", "1", "1"},
    {"StoreRetentionDays", "3650", "3650"},
    {"LogLevel", "error", "error"},
    {"LogLevel", "warning", "warning"},
    {"LogLevel", "Info", "info"},
    {"LogLevel", "debug", "debug"},
    {"JobSummary", "off", "off"},
    {"JobSummary", "Admin-Comment", "admin-comment"},
    {"WarmUp", "0", "0"},
    {"WarmUp", "2:00", "120"},
    {"ModelHalfLife", "0", "0"},
    {"ModelHalfLife", "3650", "3650"},
    {"MessageInterval", "0", "0"},
    {"MessageInterval", "24:00:00", "86400"},
    {"ExplorationBudget", "0", "0"},
    {"ExplorationBudget", "0.05", "0.05"},
    {"MinScaling", "0", "0"},
    {"MinScaling", "0.75", "0.75"},
    {"MinScaling", "1", "1"},
};

TEST(ConfigOptions, GoodValuesAreTaken) {
  std::set<std::string> seen;
  for (const auto& [name, value, shown] : kGood) {
    const Option* option = find_option(name);
    ASSERT_NE(option, nullptr) << name;
    Config config;
    const auto set = set_option(*option, value, config);
    ASSERT_TRUE(set) << name << "=" << value << ": " << set.error().text;
    EXPECT_EQ(show_option(*option, config), shown) << name << "=" << value;
    seen.insert(name);
  }
  for (const Option& option : options()) {
    if (option.type == OptionType::kName || !option.record.empty()) continue;
    EXPECT_TRUE(seen.contains(option.name)) << option.name << " has no case here";
  }
}

struct Bad {
  const char* option;
  const char* value;
  std::string error;
};

const Bad kBad[] = {
    {"Mode", "palce", "\"palce\" is not one of observe, place, elastic; did you mean place?"},
    {"Mode", "on", "\"on\" is not one of observe, place, elastic"},
    {"Mode", "", "\"\" is not one of observe, place, elastic"},
    {"ManagedAccounts", "a,A", "\"A\" is listed twice"},
    {"ManagedQOS", "a b", "\"a b\" is not a name"},
    {"GuaranteedQOS", "a b", "\"a b\" is not a name"},
    {"GrowthCap", "8,9",
     "\"8\" names no QOS; choose a whole number from 0 to 1000000, or QOS:NUMBER separated by "
     "commas"},
    {"GrowthCap", "a:1,a:2", "\"a\" is listed twice"},
    {"ManagedPartitions", "gpu,", "\"gpu,\" has an empty list item"},
    {"ManagedPartitions", "", "\"\" has an empty list item"},
    {"ManagedPartitions", "gpu,gpu", "\"gpu\" is listed twice"},
    {"ManagedPartitions", "gpu,all", "all cannot be combined with partition names"},
    {"ManagedPartitions", "a b", "\"a b\" is not a name"},
    {"HeartbeatTimeout", "0", "\"0\" is out of range; choose a time from 1 to 3600 seconds"},
    {"HeartbeatTimeout", "3601", "\"3601\" is out of range; choose a time from 1 to 3600 seconds"},
    {"HeartbeatTimeout", "1.5",
     "\"1.5\" is not a whole number; choose a time from 1 to 3600 seconds"},
    {"HeartbeatTimeout", "10s",
     "\"10s\" is not a time; write seconds, MM:SS, HH:MM:SS or D-HH:MM:SS; choose a time from 1 to "
     "3600 seconds"},
    {"HeartbeatTimeout", "-1", "\"-1\" is out of range; choose a time from 1 to 3600 seconds"},
    {"RoundInterval", "0.09", "\"0.09\" is out of range; choose a time from 0.1 to 600 seconds"},
    {"RoundInterval", "10:01", "\"10:01\" is out of range; choose a time from 0.1 to 600 seconds"},
    {"RoundDeadline", "0", "\"0\" is out of range; choose a time from 0.01 to 600 seconds"},
    {"RoundDeadline", "601", "\"601\" is out of range; choose a time from 0.01 to 600 seconds"},
    {"ReserveDepth", "0", "\"0\" is out of range; choose a whole number from 1 to 1000"},
    {"ReserveDepth", "1001", "\"1001\" is out of range; choose a whole number from 1 to 1000"},
    {"ReserveDepth", "4.5", "\"4.5\" is not a whole number; choose a whole number from 1 to 1000"},
    {"ReserveDepth", "four", "\"four\" is not a number; choose a whole number from 1 to 1000"},
    {"ReserveDepth", "99999999999999999999999999999999",
     "\"99999999999999999999999999999999\" has too many digits; choose a whole number from 1 to "
     "1000"},
    {"ReserveAfter", "30-00:00:01",
     "\"30-00:00:01\" is out of range; choose a time from 0 to 2592000 seconds"},
    {"StarvationBound", "0", "\"0\" is out of range; choose a time from 1 to 31536000 seconds"},
    {"PriorityBand", "-1",
     "\"-1\" is out of range; choose a number from 0 to 4294967295, inf or auto"},
    {"PriorityBand", "none",
     "\"none\" is not a number; choose a number from 0 to 4294967295, inf or auto"},
    {"StarvationBound", "366-00",
     "\"366-00\" is out of range; choose a time from 1 to 31536000 seconds"},
    {"LockSlice", "0", "\"0\" is out of range; choose a whole number from 1 to 1000 milliseconds"},
    {"LockSlice", "0.005",
     "\"0.005\" is not a whole number; choose a whole number from 1 to 1000 milliseconds"},
    {"LockSlice", "1001",
     "\"1001\" is out of range; choose a whole number from 1 to 1000 milliseconds"},
    {"PublishDir", "publish", "\"publish\" is not an absolute path"},
    {"PublishDir", "", "\"\" is not an absolute path"},
    {"PublishDir", "/a\"b", "\"/a\"b\" contains a quote or a control character"},
    {"PublishDir", "/a\tb", "\"/a\\x09b\" contains a quote or a control character"},
    {"PublishInterval", "0", "\"0\" is out of range; choose a time from 0.1 to 3600 seconds"},
    {"PublishInterval", "3601", "\"3601\" is out of range; choose a time from 0.1 to 3600 seconds"},
    {"StoreDir", "store", "\"store\" is not an absolute path"},
    {"StoreRetentionDays", "0", "\"0\" is out of range; choose a whole number from 1 to 3650 days"},
    {"LogLevel", "inof", "\"inof\" is not one of error, warning, info, debug; did you mean info?"},
    {"JobSummary", "admincomment",
     "\"admincomment\" is not one of off, admin-comment; did you mean admin-comment?"},
    {"LogLevel", "verbose", "\"verbose\" is not one of error, warning, info, debug"},
    {"WarmUp", "86401", "\"86401\" is out of range; choose a time from 0 to 86400 seconds"},
    {"ModelHalfLife", "x", "\"x\" is not a number; choose a whole number from 0 to 3650 days"},
    {"ModelHalfLife", "3651",
     "\"3651\" is out of range; choose a whole number from 0 to 3650 days"},
    {"MessageInterval", "0.5",
     "\"0.5\" is not a whole number; choose a time from 0 to 86400 seconds"},
    {"MinRunTime", "x",
     "\"x\" is not a time; write seconds, MM:SS, HH:MM:SS or D-HH:MM:SS; choose a time from 0 to "
     "31536000 seconds"},
    {"RestartCost", "86401", "\"86401\" is out of range; choose a time from 0 to 86400 seconds"},
    {"ResizeCost", "86401", "\"86401\" is out of range; choose a time from 0 to 86400 seconds"},
    {"RestartsPerJob", "-1", "\"-1\" is out of range; choose a whole number from 0 to 1000000"},
    {"RestartsPerJobDay", "-1", "\"-1\" is out of range; choose a whole number from 0 to 1000000"},
    {"RestartsPerUserDay", "-1", "\"-1\" is out of range; choose a whole number from 0 to 1000000"},
    {"GrowthCap", "gold",
     "\"gold\" is not a number; choose a whole number from 0 to 1000000, or QOS:NUMBER separated "
     "by "
     "commas"},
    {"ExplorationBudget", "2%", "\"2%\" is not a number; choose a number from 0 to 1"},
    {"MinScaling", "1.1", "\"1.1\" is out of range; choose a number from 0 to 1"},
    {"MinScaling", "yes", "\"yes\" is not a number; choose a number from 0 to 1"},
    {"MessageInterval", "86401",
     "\"86401\" is out of range; choose a time from 0 to 86400 seconds"},
};

TEST(ConfigOptions, BadValuesAreRefusedWithTheValidOnes) {
  std::set<std::string> seen;
  for (const auto& [name, value, error] : kBad) {
    const Option* option = find_option(name);
    ASSERT_NE(option, nullptr) << name;
    Config config;
    const auto set = set_option(*option, value, config);
    ASSERT_FALSE(set) << name << "=" << value;
    EXPECT_EQ(set.error().text, error) << name << "=" << value;
    seen.insert(name);
  }
  for (const Option& option : options()) {
    if (option.type == OptionType::kName || !option.record.empty()) continue;
    EXPECT_TRUE(seen.contains(option.name)) << option.name << " has no case here";
  }
}

TEST(ConfigOptions, SpeedOfAGpuType) {
  const Option* speed = find_option("speed", "GpuType");
  ASSERT_NE(speed, nullptr);
  EXPECT_EQ(option_number(*speed, "0.001").value_or(-1), 0.001);
  EXPECT_EQ(option_number(*speed, "1000").value_or(-1), 1000);
  for (const char* value : {"0", "1000.1", "-1"}) {
    ASSERT_FALSE(option_number(*speed, value));
    EXPECT_EQ(option_number(*speed, value).error().text,
              in_quotes(value) + " is out of range; choose a number from 0.001 to 1000");
  }
  EXPECT_EQ(option_number(*speed, "fast").error().text,
            "\"fast\" is not a number; choose a number from 0.001 to 1000");
  EXPECT_EQ(find_option("Speed"), nullptr) << "Speed alone is no option";
}

TEST(ConfigOptions, MemoryOfAGpuType) {
  const Option* memory = find_option("memory", "GpuType");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(option_number(*memory, "81920").value_or(-1), 81920) << "MiB, as in slurm.conf";
  EXPECT_EQ(option_number(*memory, "80G").value_or(-1), 81920);
  EXPECT_EQ(option_number(*memory, "79.5g").value_or(-1), 81408);
  EXPECT_EQ(option_number(*memory, "2048K").value_or(-1), 2);
  EXPECT_EQ(option_number(*memory, "1T").value_or(-1), 1048576);
  for (const char* value : {"0", "1K", "-1", "200T"}) {
    ASSERT_FALSE(option_number(*memory, value)) << value;
    EXPECT_NE(option_number(*memory, value).error().text.find("memory from 1 to 100000000 MiB"),
              std::string::npos)
        << option_number(*memory, value).error().text;
  }
  for (const char* value : {"G", "80X", "80GG", "80 G", ""})
    EXPECT_FALSE(option_number(*memory, value)) << value;
}

TEST(ConfigOptions, LinksOfAGpuType) {
  const auto config =
      parse_config("GpuType=a100 Speed=2 Memory=80G NvLink=600\nGpuType=t4\n", "rubato.conf");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->gpu_links(), (std::map<std::string, double>{{"a100", 600}}));
  EXPECT_EQ(config->speeds().at("a100"), 2);
  EXPECT_FALSE(parse_config("GpuType=a100 NvLink=0\n", "rubato.conf"));
}

TEST(ConfigOptions, ARecordIsNotSetAsAPlainOption) {
  Config config;
  const auto set = set_option(*find_option("GpuType"), "a100", config);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().text, "GpuType must be on a line of its own");
}

TEST(ConfigOptions, TheDefaultsOfTheTableAreThoseOfConfig) {
  const Config fresh;
  for (const Option& option : options()) {
    if (option.type == OptionType::kName || !option.record.empty()) continue;
    EXPECT_EQ(show_option(option, fresh), option.default_text) << option.name;
    if (option.default_text.empty()) continue;
    Config config;
    EXPECT_TRUE(set_option(option, option.default_text, config)) << option.name;
    EXPECT_EQ(config, fresh) << option.name;
  }
}

TEST(ConfigOptions, NamesAreUniqueInAnyCaseAndDescribed) {
  std::set<std::string> names;
  for (const Option& option : options()) {
    EXPECT_TRUE(names.insert(lower(option.name)).second) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    EXPECT_FALSE(option.help.ends_with('.')) << option.name;
    EXPECT_TRUE(option.text.empty() || option.text.ends_with('.')) << option.name;
    EXPECT_EQ(find_option(lower(option.name), option.record), &option);
    if (!option.default_text.empty()) continue;
    EXPECT_FALSE(option.example.empty()) << option.name << " needs a value for the example file";
  }
}

TEST(ConfigOptions, ManagesNamedPartitionsOrAll) {
  Config config;
  EXPECT_FALSE(config.manages("gpu"));
  config.managed_partitions = {"gpu"};
  EXPECT_TRUE(config.manages("gpu"));
  EXPECT_FALSE(config.manages("GPU"));
  config.manage_all = true;
  EXPECT_TRUE(config.manages("GPU"));
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The options for tests: values, errors, and their description.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lib/config/options.h"
#include "lib/config/test_options.h"

namespace rubato {
namespace {

struct GoodTestValue {
  const char* option;
  const char* value;
  const char* shown;  // the output of show_test_option
};

const GoodTestValue kGoodValues[] = {
    {"TestOff", "gate", "gate"},
    {"TestOff",
     "gate,willrun,walk,immediate,server-count,reserve,heartbeat,depth,stock-plan,wake,type,"
     "resv-mask,publish",
     "depth,gate,heartbeat,immediate,publish,reserve,resv-mask,server-count,stock-plan,type,wake,"
     "walk,willrun"},
    {"TestInject", "throw-round", "throw-round"},
    {"TestInject", "throw-gate,throw-submit,stop-loop", "stop-loop,throw-gate,throw-submit"},
    {"TestInject", "hang-round:30,slow-round:250", "hang-round:30,slow-round:250"},
    {"TestInject", "HANG-round:0.5", "hang-round:0.5"},
    {"TestInject", "slow-round:1000000", "slow-round:1000000"},
};

TEST(TestOptions, TakesGoodValues) {
  for (const auto& [name, value, shown] : kGoodValues) {
    const TestOption* option = find_test_option(name);
    ASSERT_NE(option, nullptr) << name;
    Config config;
    const auto set = set_test_option(*option, value, config);
    ASSERT_TRUE(set) << name << "=" << value << ": " << set.error().text;
    EXPECT_EQ(show_test_option(*option, config), shown) << name << "=" << value;
  }
}

struct BadTestValue {
  const char* option;
  const char* value;
  std::string error;
};

/// The words of the table, which grows with each mechanism.
std::string words_of(const char* option) {
  std::string list;
  for (const TestWord& word : find_test_option(option)->words)
    list += (list.empty() ? "" : ", ") + word.name;
  return list;
}

const BadTestValue kBadValues[] = {
    {"TestOff", "gaet", "\"gaet\" must be one of " + words_of("TestOff") + "; did you mean gate?"},
    {"TestOff", "gate:1", "gate takes no argument"},
    {"TestOff", "gate,gate", "\"gate\" is listed twice"},
    {"TestInject", "hang-round",
     "hang-round needs a number from 0 to 1000000; write hang-round:SECONDS"},
    {"TestInject",
     "hang-round:", "hang-round needs a number from 0 to 1000000; write hang-round:SECONDS"},
    {"TestInject", "slow-round:x",
     "slow-round needs a number from 0 to 1000000; write slow-round:MILLISECONDS"},
    {"TestInject", "slow-round:1000001",
     "slow-round needs a number from 0 to 1000000; write slow-round:MILLISECONDS"},
    {"TestInject", "throw-round:1", "throw-round takes no argument"},
    {"TestInject", "trow-gate",
     "\"trow-gate\" must be one of " + words_of("TestInject") + "; did you mean throw-gate?"},
};

TEST(TestOptions, RefusesBadValuesAndNamesTheValidOnes) {
  for (const auto& [name, value, error] : kBadValues) {
    const TestOption* option = find_test_option(name);
    ASSERT_NE(option, nullptr) << name;
    Config config;
    const auto set = set_test_option(*option, value, config);
    ASSERT_FALSE(set) << name << "=" << value;
    EXPECT_EQ(set.error().text, error) << name << "=" << value;
  }
}

TEST(TestOptions, AreInNoTableForAdmins) {
  for (const TestOption& option : test_options()) {
    EXPECT_EQ(find_option(option.name), nullptr) << option.name;
    EXPECT_TRUE(show_test_option(option, Config{}).empty()) << option.name;
    for (const TestWord& word : option.words) {
      EXPECT_FALSE(word.help.empty()) << word.name;
      EXPECT_FALSE(word.help.ends_with('.')) << word.name;
    }
  }
}

TEST(TestOptions, ReadmeOfTheClusterTestsHasEveryWord) {
  const char* from_environment = std::getenv("RUBATO_SOURCE_DIR");
  const std::filesystem::path source =
      from_environment != nullptr ? from_environment : RUBATO_SOURCE_DIR;
  std::ifstream in(source / "test/cluster/README.md", std::ios::binary);
  const std::string readme{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(readme.find(test_options_markdown()), std::string::npos)
      << "write the output of `config_docs tests` into test/cluster/README.md";
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/base/nearest.h"

namespace rubato {
namespace {

struct DistanceCase {
  const char* a;
  const char* b;
  int distance;
};

TEST(ConfigNearest, DistanceCountsTheFewestEdits) {
  const DistanceCase cases[] = {
      {"", "", 0},
      {"", "abc", 3},
      {"abc", "", 3},
      {"abc", "abc", 0},
      {"abc", "acb", 1},   // swap of neighbours
      {"abc", "ab", 1},    // deletion
      {"abc", "abxc", 1},  // insertion
      {"abc", "axc", 1},   // substitution
      {"ca", "abc", 2},    // swap, then insertion between: 3 in the restricted form
      {"depht", "depth", 1},
      {"kitten", "sitting", 3},
      {"a cat", "an abct", 3},  // 4 in the restricted form
      {"abcdef", "badcfe", 3},  // three swaps
      {"\xff\xfe", "\xfe\xff", 1},
  };
  for (const auto& [a, b, distance] : cases) {
    EXPECT_EQ(edit_distance(a, b), distance) << a << " -> " << b;
    EXPECT_EQ(edit_distance(b, a), distance) << b << " -> " << a;
  }
}

struct NearestCase {
  const char* word;
  const char* nearest;  // "" for none
};

TEST(ConfigNearest, FindsWhatWasMeant) {
  const std::vector<std::string> choices{"ReserveDepth",  "ReserveAfter", "RoundInterval",
                                         "RoundDeadline", "LogLevel",     "Mode"};
  const NearestCase cases[] = {
      {"ReserveDepht", "ReserveDepth"},
      {"reservedepth", "ReserveDepth"},  // case differences have no distance
      {"ReserveDeep", "ReserveDepth"},
      {"Reserve", "ReserveDepth"},  // a prefix; the first match
      {"RoundInterv", "RoundInterval"},
      {"Modus", "Mode"},
      {"Moed", "Mode"},
      {"Lo", "LogLevel"},
      {"L", ""},  // one letter matches too many names
      {"Wombat", ""},
      {"", ""},
      {"xyz", ""},
  };
  for (const auto& [word, wanted] : cases) {
    EXPECT_EQ(nearest(word, choices).value_or(""), wanted) << word;
  }
}

TEST(ConfigNearest, TheBeginningOfAFamilyOfNamesCountsForNothing) {
  const std::vector<std::string> choices{"RUBATO_DL_GPUS", "RUBATO_DL_JOB_TYPE"};
  EXPECT_EQ(nearest("RUBATO_DL_FOO", choices), std::nullopt);
  EXPECT_EQ(nearest("RUBATO_DL_GPU", choices), "RUBATO_DL_GPUS");
  EXPECT_EQ(nearest("RUBATO_DL_GSPU", choices), "RUBATO_DL_GPUS");
  EXPECT_EQ(nearest("RUBATO_DL_JOBTYPE", choices), "RUBATO_DL_JOB_TYPE");
  EXPECT_EQ(nearest("RUBTAO_DL_GPUS", choices), "RUBATO_DL_GPUS");
}

TEST(ConfigNearest, ATieGoesToTheEarlierChoice) {
  EXPECT_EQ(nearest("bat", std::vector<std::string>{"cat", "rat"}), "cat");
  EXPECT_EQ(nearest("bat", std::vector<std::string>{"rat", "cat"}), "rat");
}

TEST(ConfigNearest, NothingIsNearToNoChoiceOrToAVeryLongWord) {
  EXPECT_EQ(nearest("Mode", std::vector<std::string>{}), std::nullopt);
  const std::string word(65, 'a');
  EXPECT_EQ(nearest(word, std::vector<std::string>{word}), std::nullopt);
  const std::string shorter(64, 'a');
  EXPECT_EQ(nearest(shorter, std::vector<std::string>{shorter + "b"}), shorter + "b");
}

TEST(ConfigNearest, DidYouMeanIsTheEndOfASentence) {
  const std::vector<std::string> choices{"observe", "place"};
  EXPECT_EQ(did_you_mean("palce", choices), "; did you mean place?");
  EXPECT_EQ(did_you_mean("wombat", choices), "");
}

TEST(ConfigNearest, LowerChangesAsciiLettersOnly) {
  EXPECT_EQ(lower("AZaz09_\xC4"), "azaz09_\xC4");
}

}  // namespace
}  // namespace rubato

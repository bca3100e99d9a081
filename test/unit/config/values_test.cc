// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/config/values.h"

namespace rubato {
namespace {

struct GoodNumber {
  const char* text;
  double value;
};

TEST(ConfigValues, DurationsInSecondsAndInSlurmsForms) {
  const GoodNumber cases[] = {
      {"0", 0},          {"90", 90},       {"0.25", 0.25},     {"01:30", 90},
      {"1:30", 90},      {"90:00", 5400},  {"01:00:00", 3600}, {"100:00:01", 360001},
      {"1-00", 86400},   {"1-12", 129600}, {"1-00:01", 86460}, {"2-03:04:05", 183845},
      {"0-00:00:00", 0},
  };
  for (const auto& [text, value] : cases) {
    const auto got = parse_duration(text);
    ASSERT_TRUE(got) << text << ": " << got.error().text;
    EXPECT_EQ(*got, value) << text;
  }
}

TEST(ConfigValues, WhatIsNoDurationIsRefusedWithTheForms) {
  for (const char* text : {"",        "x",
                           "5s",      "1e3",
                           "-5",      "+5",
                           " 5",      "5 ",
                           ":",       "1:",
                           ":30",     "1:60",
                           "1:2:60",  "1:60:00",
                           "1:2:3:4", "1-24",
                           "1-0:60",  "-1:00",
                           "1-",      "1-2-3",
                           "0x10",    "inf",
                           "nan",     "UNLIMITED",
                           "1.5:00",  "99999999999-00"}) {
    const auto got = parse_duration(text);
    ASSERT_FALSE(got) << text;
    EXPECT_NE(got.error().text.find("is not a time; write seconds, MM:SS, HH:MM:SS or D-HH:MM:SS"),
              std::string::npos)
        << got.error().text;
  }
}

TEST(ConfigValues, NumbersAreDigitsWithOnePoint) {
  const GoodNumber good[] = {{"0", 0}, {"007", 7}, {"1.50", 1.5}, {"123456789", 123456789}};
  for (const auto& [text, value] : good) EXPECT_EQ(parse_number(text).value_or(-1), value) << text;
  for (const char* text : {"", ".", "1.", ".5", "1.2.3", "1,5", "-1", "+1", "1e5", "0x1", "nan"}) {
    ASSERT_FALSE(parse_number(text)) << text;
    EXPECT_NE(parse_number(text).error().text.find("is not a number"), std::string::npos) << text;
  }
  EXPECT_EQ(parse_number(std::string(31, '1')).error().text,
            "\"" + std::string(31, '1') + "\" has too many digits");
}

TEST(ConfigValues, ShowNumberIsReadBackExactly) {
  EXPECT_EQ(show_number(1), "1");
  EXPECT_EQ(show_number(0.5), "0.5");
  EXPECT_EQ(show_number(86400), "86400");
  for (const double value : {0.001, 0.1 + 0.2, 1.0 / 3, 2.0 / 3e2, 999.9999999999999, 1e6}) {
    EXPECT_EQ(parse_number(show_number(value)).value_or(-1), value) << show_number(value);
  }
}

TEST(ConfigValues, ListsHaveNoEmptyPlace) {
  EXPECT_EQ(split_list("a,b,c").value(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(split_list("a").value(), std::vector<std::string>{"a"});
  for (const char* text : {"", ",", "a,", ",a", "a,,b"}) {
    ASSERT_FALSE(split_list(text)) << text;
    EXPECT_NE(split_list(text).error().text.find("has an empty list item"), std::string::npos);
  }
}

TEST(ConfigValues, NamesHaveNoByteThatTheFileNeeds) {
  for (const char* name : {"gpu", "a100-80g", "A.b_c", "m\xC3\xBCnchen", "x:y", "[1]"}) {
    EXPECT_TRUE(check_name(name)) << name;
  }
  for (const char* name : {"", "a b", "a\tb", "a,b", "a\"b", "a#b", "a=b", "a\\b", "a\x7F"}) {
    EXPECT_FALSE(check_name(name)) << name;
  }
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/json_value.h"

#include <gtest/gtest.h>

#include <limits>

namespace rubato {
namespace {

TEST(JsonValue, BracesMakeAnObjectIfEachItemIsANameWithAValue) {
  EXPECT_EQ(json_text({{"a", 1}, {"b", {{"c", true}}}}), R"({"a":1,"b":{"c":true}})");
  EXPECT_EQ(json_text({{"a", 1}, {2, "b"}}), R"([["a",1],[2,"b"]])");
  EXPECT_EQ(json_text(JsonValue{{"only", nullptr}}), R"({"only":null})");
}

TEST(JsonValue, WritesWhatItReads) {
  const std::string text =
      R"({"z":[1,-2,0.5,1e+300,18446744073709551615],"a":{"t":"\"\\\u0001é"},"n":null,"y":false})";
  const auto value = JsonValue::parse(text);
  ASSERT_TRUE(value);
  EXPECT_EQ(json_text(*value), text);
}

TEST(JsonValue, KeepsTheLastOfTwoMembersWithOneName) {
  const auto value = JsonValue::parse(R"({"a":1,"b":2,"a":3})");
  ASSERT_TRUE(value);
  EXPECT_EQ(json_text(*value), R"({"a":3,"b":2})");
}

TEST(JsonValue, ParseNamesThePlaceOfAnError) {
  const auto value = JsonValue::parse("{\"a\": ]");
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().text.find("column 7"), std::string::npos) << value.error().text;
}

TEST(JsonValue, RefusesTextsThatAreTooDeep) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(JsonValue::parse(nested(JsonValue::kMaxDepth)));
  EXPECT_FALSE(JsonValue::parse(nested(JsonValue::kMaxDepth + 1)));
  EXPECT_FALSE(JsonValue::parse(std::string(1000000, '[')));
}

TEST(JsonValue, ComparesNumbersByValueAndObjectsInAnyOrder) {
  EXPECT_EQ(JsonValue(1), JsonValue(1U));
  EXPECT_EQ(JsonValue(1), JsonValue(1.0));
  EXPECT_FALSE(JsonValue(-1) == JsonValue(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ((JsonValue{{"a", 1}, {"b", 2}}), (JsonValue{{"b", 2}, {"a", 1}}));
  EXPECT_FALSE(JsonValue(nullptr) == JsonValue(false));
}

TEST(JsonValue, GivesTheFallbackForAnotherKind) {
  const JsonValue value{{"text", "a"}, {"number", 2}};
  EXPECT_EQ(value.value("text", std::string("b")), "a");
  EXPECT_EQ(value.value("number", std::string("b")), "b");
  EXPECT_EQ(value.value("number", 0.5), 2);
  EXPECT_EQ(value.value("text", 0.5), 0.5);
  EXPECT_TRUE(value.at("none").is_null());
  EXPECT_EQ(value.at("text").get<int>(), 0);
}

TEST(JsonValue, AsciiEscapesAndReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_ascii(JsonValue("é")), R"("\u00e9")");
  EXPECT_EQ(json_text(JsonValue("a\xff")), "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The schemas of docs/schema that are made from descriptions. After a change of a description
// `make schema-docs` writes them again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "lib/json/record_writer.h"
#include "tools/generate/schema_documents.h"
#include "tools/generate/schema_writer.h"

namespace rubato {

struct Wheel {
  int spokes = 0;
};
struct Bicycle {
  std::string kind = "city";
  std::optional<Wheel> spare;
  std::optional<int> gears;
  std::map<std::string, double> lengths;
  JsonValue wheels = JsonValue::array();
  double price = 0;
};

namespace json {

template <typename Visitor, Is<Wheel> R>
void describe(Visitor& v, R& wheel) {
  v.count("spokes", wheel.spokes, kAlways);
}
template <typename Visitor, Is<Bicycle> R>
void describe(Visitor& v, R& bicycle) {
  v.text("kind", bicycle.kind, kAlways);
  v.one_of("kind", {"city", "race"});
  v.object("spare", bicycle.spare);
  v.number("gears", bicycle.gears, kMaxInt);
  v.values_by_name("lengths", bicycle.lengths);
  v.copied("wheels", bicycle.wheels, Wheel{});
  v.figure("price", bicycle.price);
}

}  // namespace json

namespace {

std::string kept_schema(std::string_view name) {
  const char* from_environment = std::getenv("RUBATO_SOURCE_DIR");
  const std::filesystem::path source =
      from_environment != nullptr ? from_environment : RUBATO_SOURCE_DIR;
  const std::string file = "rubato." + std::string(name) + ".1.json";
  std::ifstream in(source / "docs/schema" / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RecordSchema, UnknownMembersAreLeftOut) {
  EXPECT_EQ(json_text(json::json_of(Bicycle{})),
            R"({"kind":"city","lengths":{},"wheels":[],"price":0.0})");
}

TEST(RecordSchema, KnownMembersAreWritten) {
  const Bicycle bicycle{.kind = "race",
                        .spare = Wheel{32},
                        .gears = 0,
                        .lengths = {{"frame", 0.5}},
                        .wheels = {JsonValue{{"spokes", 24}}},
                        .price = std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(json_text(json::json_of(bicycle)),
            R"({"kind":"race","spare":{"spokes":32},"gears":0,"lengths":{"frame":0.5},)"
            R"("wheels":[{"spokes":24}],"price":null})");
}

TEST(RecordSchema, WordsOfDescriptionsHaveSchemas) {
  const JsonValue schema = json::SchemaWriter::object_schema<Bicycle>();
  const JsonValue required = {"kind", "lengths", "wheels", "price"};
  EXPECT_EQ(schema["required"], required);
  const JsonValue& members = schema["properties"];
  EXPECT_EQ(json_text(members["kind"]), R"({"type":"string","enum":["city","race"]})");
  EXPECT_EQ(json_text(members["gears"]), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(json_text(members["lengths"]),
            R"({"type":"object","additionalProperties":{"type":"number"}})");
  EXPECT_EQ(members["wheels"]["items"], members["spare"]);
  EXPECT_EQ(json_text(members["price"]), R"({"type":["number","null"]})");
}

TEST(RecordSchema, KeptSchemasAreThoseOfTheDescriptions) {
  for (const SchemaDocument& document : kSchemaDocuments)
    EXPECT_EQ(kept_schema(document.name), document.text()) << document.name;
}

}  // namespace
}  // namespace rubato

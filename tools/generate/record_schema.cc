// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/record_schema.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "lib/json/decisions_records.h"
#include "lib/json/json.h"
#include "lib/json/records.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;
using json::describe;
using json::Presence;
using enum json::Presence;

Json type_of(const char* name) { return {{"type", name}}; }

Json array_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

/// Collects the schema of a record from its description.
class SchemaWriter {
 public:
  template <typename Record>
  static Json object_schema() {
    SchemaWriter writer;
    writer.add<Record>();
    return writer.take();
  }

  template <typename Record>
  void add() {
    const Record record{};
    describe(*this, record);
  }
  /// A member whose value is fixed.
  void constant(const char* key, const char* value) {
    properties_[key] = {{"const", value}};
    required_.push_back(key);
  }
  [[nodiscard]] Json take() {
    return {{"type", "object"},
            {"required", std::move(required_)},
            {"properties", std::move(properties_)}};
  }

  void expected(const char* key) { required_.push_back(key); }
  void note(const char* key, const char* text) { properties_[key]["description"] = text; }

  void name(const char* key, const std::string& /*text*/) { required(key, type_of("string")); }
  void text(const char* key, const std::string& /*text*/, Presence presence = kUnlessDefault) {
    member(key, type_of("string"), presence);
  }
  void yes(const char* key, bool /*yes*/, bool /*standard*/ = false) {
    properties_[key] = type_of("boolean");
  }
  void id(const char* key, JobId /*id*/) { required(key, whole()); }
  void count(const char* key, int /*count*/, int /*standard*/ = 0) { properties_[key] = whole(); }
  void memory(const char* key, MiB /*memory*/) { properties_[key] = whole(); }
  template <typename Number>
  void number(const char* key, Number /*value*/, std::uint64_t /*most*/,
              std::type_identity_t<Number> /*standard*/ = 0) {
    properties_[key] = whole();
  }
  void time(const char* key, Seconds /*time*/) {
    properties_[key] = {{"type", {"integer", "string"}}};
  }
  template <typename Real>
  void real(const char* key, const Real& /*value*/) {
    properties_[key] = type_of("number");
  }
  void amount(const char* key, double /*value*/) {
    properties_[key] = {{"type", "number"}, {"minimum", 0}};
  }
  void known_amount(const char* key, double value) { amount(key, value); }
  void fraction(const char* key, double value) { amount(key, value); }
  template <typename Enum, typename From>
  void word(const char* key, Enum /*value*/, From from) {
    Json words = Json::array();
    for (int i = 0; from(to_string(static_cast<Enum>(i))); ++i)
      words.push_back(to_string(static_cast<Enum>(i)));
    properties_[key] = {{"enum", std::move(words)}};
  }
  template <typename Enum, typename From>
  void required_word(const char* key, Enum value, From from) {
    word(key, value, from);
    required_.push_back(key);
  }
  template <typename Enum, typename From>
  void word_unless(const char* key, Enum value, Enum /*standard*/, From from) {
    word(key, value, from);
  }

  template <typename T>
  void list(const char* key, const std::vector<T>& /*items*/, std::size_t /*most*/ = 0,
            Presence presence = kUnlessDefault) {
    using Record = std::remove_cvref_t<decltype(json::record_of(std::declval<const T&>()))>;
    member(key, array_of(object_schema<Record>()), presence);
  }
  template <typename Record>
  void object(const char* key, const Record& /*record*/, Presence presence = kUnlessDefault) {
    member(key, object_schema<Record>(), presence);
  }
  void texts(const char* key, const std::vector<std::string>& /*items*/) {
    properties_[key] = array_of(type_of("string"));
  }
  template <typename Facts>
  void facts(const char* key, const Facts& /*facts*/) {
    properties_[key] = array_of(array_of(type_of("string")));
  }

  void node(const char* key, NodeIndex /*index*/) { required(key, type_of("string")); }
  void nodes(const char* key, const std::vector<NodeIndex>& /*indices*/) {
    properties_[key] = array_of(type_of("string"));
  }
  void shares(const char* key, const std::vector<NodeShare>& shares) { list(key, shares); }
  void node_set(const char* key, NodeSetIndex /*index*/) { properties_[key] = whole(); }
  void node_sets(const char* key, const std::vector<NodeSet>& /*sets*/) {
    properties_[key] = array_of(array_of(type_of("string")));
  }
  void private_data(const char* key, const PrivateData& hidden) {
    Json words = Json::array();
    json::for_each_private(hidden, [&](const char* word, bool /*on*/) { words.push_back(word); });
    properties_[key] = array_of({{"enum", std::move(words)}});
  }
  void hints(const char* key, const std::optional<ResolvedHints>& /*hints*/) {
    properties_[key] = type_of("object");
  }

 private:
  static Json whole() { return {{"type", "integer"}, {"minimum", 0}}; }
  void required(const char* key, Json schema) { member(key, std::move(schema), kRequired); }
  void member(const char* key, Json schema, Presence presence) {
    properties_[key] = std::move(schema);
    if (presence != kUnlessDefault) required_.push_back(key);
  }

  Json required_ = Json::array();
  Json properties_ = Json::object();
};

template <typename Record>
std::string schema_of(const char* id, const char* title, const std::string& what) {
  SchemaWriter writer;
  writer.constant("schema", id);
  writer.add<Record>();
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"$id", id},
                 {"title", title},
                 {"description",
                  what + " Times are seconds since 1970, memory is in MiB. A member that is left "
                         "out has its default. New members may be added; the number in the schema "
                         "changes when a member is removed or changes its meaning."}};
  schema.update(writer.take());
  return json_text(schema, 2) + "\n";
}

}  // namespace

std::string snapshot_schema() {
  return schema_of<Snapshot>(kSnapshotSchema, "rubato snapshot; snapshot.json",
                             "The input of one round.");
}

std::string plan_schema() {
  return schema_of<Plan>(kPlanSchema, "rubato snapshot --replay; plan.json",
                         "The plan of one round.");
}

std::string decisions_schema() {
  return schema_of<StartRecords>(kDecisionsSchema, "decisions.json",
                                 "What was decided when the managed jobs that run, or ended within "
                                 "the last hour, started.");
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Makes JSON Schemas from the descriptions of records. A describe() of a record must be declared
// before.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/json/records.h"

namespace rubato::json {

/// Whether the schema forbids members that it does not name.
enum class Members { kOpen, kClosed };

/// Collects the schema of a record from its description.
class SchemaWriter {
 public:
  using Json = JsonValue;

  explicit SchemaWriter(Members members = Members::kOpen) : members_(members) {}

  static Json type_of(const char* name) { return {{"type", name}}; }
  static Json array_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

  template <typename Record>
  static Json object_schema(Members members = Members::kOpen) {
    SchemaWriter writer(members);
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
  /// A required member with a schema of its own.
  void required(const char* key, Json schema) { member(key, std::move(schema), kRequired); }
  [[nodiscard]] Json take() {
    Json schema = {{"type", "object"},
                   {"required", std::move(required_)},
                   {"properties", std::move(properties_)}};
    if (members_ == Members::kClosed) schema["additionalProperties"] = false;
    return schema;
  }
  /// The schemas of the members.
  [[nodiscard]] const Json& properties() const { return properties_; }

  void expected(const char* key) { required_.push_back(key); }
  void note(const char* key, const char* text) { properties_[key]["description"] = text; }
  template <typename Value>
  void column(const char* /*heading*/, CellFormat /*format*/, const Value& /*value*/) {}
  template <typename Number>
  void above_zero(const char* key, const Number& /*value*/) {
    if constexpr (std::is_integral_v<Number>) {
      properties_[key]["minimum"] = 1;
    } else {
      properties_[key]["exclusiveMinimum"] = 0;
    }
  }
  template <typename Number>
  void not_negative(const char* key, const Number& /*value*/) {
    properties_[key]["minimum"] = 0;
  }
  template <typename Value>
  void one_of(const char* key, std::initializer_list<Value> values) {
    Json list = Json::array();
    for (const Value& value : values) list.push_back(value);
    properties_[key]["enum"] = std::move(list);
  }
  /// Members that follow are not required.
  [[nodiscard]] bool rest(bool /*present*/) {
    required_ends_ = true;
    return true;
  }

  void name(const char* key, const std::string& /*text*/) { required(key, type_of("string")); }
  void text(const char* key, const std::string& /*text*/, Presence presence = kUnlessDefault) {
    member(key, type_of("string"), presence);
  }
  void yes(const char* key, bool /*yes*/, bool /*standard*/ = false) {
    properties_[key] = type_of("boolean");
  }
  void yes(const char* key, bool /*yes*/, Presence presence) {
    member(key, type_of("boolean"), presence);
  }
  void id(const char* key, JobId /*id*/) { required(key, whole()); }
  void count(const char* key, int /*count*/, int /*standard*/ = 0) { properties_[key] = whole(); }
  void count(const char* key, int /*count*/, Presence presence) { member(key, whole(), presence); }
  void memory(const char* key, MiB /*memory*/) { properties_[key] = whole(); }
  template <typename Number>
  void number(const char* key, Number /*value*/, std::uint64_t /*most*/,
              std::type_identity_t<Number> /*standard*/ = 0) {
    properties_[key] = whole();
  }
  template <typename Number>
  void number(const char* key, Number /*value*/, std::uint64_t /*most*/, Presence presence) {
    member(key, whole(), presence);
  }
  template <typename Number>
  void number(const char* key, const std::optional<Number>& /*value*/, std::uint64_t /*most*/) {
    properties_[key] = whole();
  }
  void time(const char* key, Seconds /*time*/, Presence presence = kUnlessDefault) {
    member(key, {{"type", {"integer", "string"}}}, presence);
  }
  void past(const char* key, Seconds /*time*/, Presence presence = kUnlessDefault) {
    member(key, {{"type", "integer"}, {"description", "seconds since 1970"}}, presence);
  }
  template <typename Real>
  void real(const char* key, const Real& /*value*/, Presence presence = kUnlessDefault) {
    member(key, type_of("number"), presence);
  }
  void real(const char* key, double /*value*/, double /*standard*/) {
    properties_[key] = type_of("number");
  }
  void figure(const char* key, double /*value*/) {
    member(key, {{"type", {"number", "null"}}}, kAlways);
  }
  void amount(const char* key, double /*value*/) {
    properties_[key] = {{"type", "number"}, {"minimum", 0}};
  }
  void known_amount(const char* key, double value) { amount(key, value); }
  void fraction(const char* key, double value) { amount(key, value); }
  template <typename Enum, typename From>
  void word(const char* key, Enum /*value*/, From from) {
    Json words = Json::array();
    // Beyond the last value, the word is none or that of another.
    for (int i = 0; from(to_string(static_cast<Enum>(i))) == static_cast<Enum>(i); ++i)
      words.push_back(to_string(static_cast<Enum>(i)));
    properties_[key] = {{"enum", std::move(words)}};
  }
  template <typename Enum, typename From>
  void required_word(const char* key, Enum value, From from) {
    word(key, value, from);
    if (!required_ends_) required_.push_back(key);
  }
  template <typename Enum, typename From>
  void word_unless(const char* key, Enum value, Enum /*standard*/, From from) {
    word(key, value, from);
  }

  template <typename T>
  void list(const char* key, const std::vector<T>& /*items*/, std::size_t /*most*/ = 0,
            Presence presence = kUnlessDefault) {
    using Record = std::remove_cvref_t<decltype(record_of(std::declval<const T&>()))>;
    member(key, array_of(object_schema<Record>(members_)), presence);
  }
  template <typename Record>
  void object(const char* key, const Record& /*record*/, Presence presence = kUnlessDefault) {
    member(key, object_schema<Record>(members_), presence);
  }
  template <typename Record>
  void object(const char* key, const std::optional<Record>& /*record*/) {
    object(key, Record{});
  }
  template <typename Element>
  void copied(const char* key, const Json& /*items*/, const Element& /*element*/) {
    member(key, array_of(object_schema<Element>(members_)), kAlways);
  }
  template <typename Map, typename Element>
  void table(const char* key, const Map& /*table*/, const Element& /*element*/,
             Presence presence = kUnlessDefault) {
    member(key, array_of(object_schema<Element>(members_)), presence);
  }
  template <typename Map>
  void by_name(const char* key, const Map& /*records*/) {
    properties_[key] = {
        {"type", "object"},
        {"additionalProperties", object_schema<typename Map::mapped_type>(members_)}};
  }
  template <typename Pairs>
  void values_by_name(const char* key, const Pairs& /*pairs*/) {
    using Value = typename Pairs::value_type::second_type;
    const Json value = std::is_integral_v<Value>     ? whole()
                       : std::is_arithmetic_v<Value> ? type_of("number")
                                                     : type_of("string");
    member(key, {{"type", "object"}, {"additionalProperties", value}}, kAlways);
  }
  void texts(const char* key, const std::vector<std::string>& /*items*/,
             Presence presence = kUnlessDefault) {
    member(key, array_of(type_of("string")), presence);
  }
  template <typename Facts>
  void facts(const char* key, const Facts& /*facts*/) {
    properties_[key] = array_of(array_of(type_of("string")));
  }

  void node(const char* key, NodeIndex /*index*/) { required(key, type_of("string")); }
  void node_if(const char* key, NodeIndex /*index*/) { properties_[key] = type_of("string"); }
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
    for_each_private(hidden, [&](const char* word, bool /*on*/) { words.push_back(word); });
    properties_[key] = array_of({{"enum", std::move(words)}});
  }
  void hints(const char* key, const std::optional<ResolvedHints>& /*hints*/) {
    properties_[key] = type_of("object");
  }

 private:
  static Json whole() { return {{"type", "integer"}, {"minimum", 0}}; }
  void member(const char* key, Json schema, Presence presence) {
    properties_[key] = std::move(schema);
    if (presence != kUnlessDefault && !required_ends_) required_.push_back(key);
  }

  Members members_;
  bool required_ends_ = false;
  Json required_ = Json::array();
  Json properties_ = Json::object();
};

}  // namespace rubato::json

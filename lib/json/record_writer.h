// SPDX-License-Identifier: GPL-2.0-or-later
// Writes records as their descriptions say. A describe() of a record must be declared before.
#pragma once

#include <concepts>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/base/json_writer.h"
#include "lib/json/json_hints.h"
#include "lib/json/json_tree.h"
#include "lib/json/records.h"

namespace rubato::json {

/// Writes the members of a record. Members with their default are left out. `Sink` is JsonWriter or
/// JsonTree.
template <typename Sink>
class BasicRecordWriter {
 public:
  /// `snapshot` has the names of nodes.
  explicit BasicRecordWriter(const Snapshot& snapshot) : snapshot_(snapshot) {}

  template <typename Record>
  [[nodiscard]] std::string document(const char* schema, const Record& record, std::size_t bytes) {
    json_.reserve(bytes);
    json_.begin_object();
    if (schema != nullptr) json_.put("schema", schema);
    describe(*this, record);
    json_.end_object();
    return json_.take();
  }
  /// The record as a value.
  template <typename Record>
  [[nodiscard]] JsonValue value(const Record& record) {
    put_record(record);
    return json_.take();
  }

  void expected(std::string_view /*name*/) {}
  void note(std::string_view /*name*/, std::string_view /*text*/) {}
  template <typename Value>
  void column(std::string_view /*heading*/, CellFormat /*format*/, const Value& /*value*/) {}
  template <typename Number>
  void above_zero(std::string_view /*name*/, const Number& /*value*/) {}
  template <typename Number>
  void not_negative(std::string_view /*name*/, const Number& /*value*/) {}
  template <typename Value>
  void one_of(std::string_view /*name*/, std::initializer_list<Value> /*values*/) {}
  /// Whether the members that follow are written.
  [[nodiscard]] bool rest(bool present) { return present; }

  void name(std::string_view key, const std::string& text) { json_.put(key, text); }
  void text(std::string_view key, const std::string& text, Presence presence = kUnlessDefault) {
    put(key, text, presence);
  }
  void yes(std::string_view key, bool yes, bool standard = false) {
    json_.member(key, yes, standard);
  }
  void yes(std::string_view key, bool yes, Presence presence) { put(key, yes, presence); }
  void id(std::string_view key, JobId id) { json_.put(key, id); }
  void count(std::string_view key, int count, int standard = 0) {
    json_.member(key, count, standard);
  }
  void count(std::string_view key, int count, Presence presence) { put(key, count, presence); }
  void memory(std::string_view key, MiB memory) { json_.member(key, memory); }
  template <typename Number>
  void number(std::string_view key, Number value, std::uint64_t /*most*/,
              std::type_identity_t<Number> standard = 0) {
    json_.member(key, value, standard);
  }
  template <typename Number>
  void number(std::string_view key, Number value, std::uint64_t /*most*/, Presence presence) {
    put(key, value, presence);
  }
  template <typename Number>
  void number(std::string_view key, const std::optional<Number>& value, std::uint64_t /*most*/) {
    if (value) json_.put(key, *value);
  }
  void time(std::string_view key, Seconds time, Presence presence = kUnlessDefault) {
    if (presence == kUnlessDefault && time == 0) return;
    json_.key(key);
    json_.time(time);
  }
  void real(std::string_view key, double value, Presence presence = kUnlessDefault) {
    put(key, value, presence);
  }
  void real(std::string_view key, double value, double standard) {
    json_.member(key, value, standard);
  }
  void real(std::string_view key, const std::optional<double>& value) {
    if (value) json_.put(key, *value);
  }
  void figure(std::string_view key, double value) { json_.put(key, value); }
  void past(std::string_view key, Seconds time, Presence presence = kUnlessDefault) {
    put(key, time, presence);
  }
  void amount(std::string_view key, double value) { json_.member(key, value); }
  void fraction(std::string_view key, double value) { json_.member(key, value); }
  void known_amount(std::string_view key, double value) {
    if (value >= 0) json_.put(key, value);
  }
  template <typename Enum, typename From>
  void word(std::string_view key, Enum value, From /*from*/) {
    json_.put(key, to_string(value));
  }
  template <typename Enum, typename From>
  void required_word(std::string_view key, Enum value, From from) {
    word(key, value, from);
  }
  template <typename Enum, typename From>
  void word_unless(std::string_view key, Enum value, Enum standard, From from) {
    if (value != standard) word(key, value, from);
  }

  template <typename T>
  void list(std::string_view key, const std::vector<T>& items, std::size_t /*most*/ = 0,
            Presence presence = kUnlessDefault) {
    array(
        key, items, [&](const T& item) { put_record(record_of(item)); }, presence);
  }
  template <typename Value, typename Element>
  void table(std::string_view key, const std::map<std::string, Value>& table, Element /*element*/,
             Presence presence = kUnlessDefault) {
    if (presence == kUnlessDefault && table.empty()) return;
    json_.key(key);
    json_.begin_array();
    for (const auto& [name, value] : table) put_record(Element{name, value});
    json_.end_array();
  }
  template <typename Record>
  void by_name(std::string_view key, const std::map<std::string, Record>& records) {
    json_.key(key);
    json_.begin_object();
    for (const auto& [name, record] : records) {
      json_.key(name);
      put_record(record);
    }
    json_.end_object();
  }
  template <typename Pairs>
  void values_by_name(std::string_view key, const Pairs& pairs) {
    json_.key(key);
    json_.begin_object();
    for (const auto& [name, value] : pairs) json_.put(name, value);
    json_.end_object();
  }
  template <typename Record>
  void object(std::string_view key, const Record& record, Presence presence = kUnlessDefault) {
    if constexpr (std::equality_comparable<Record>) {
      if (presence == kUnlessDefault && record == Record{}) return;
    }
    json_.key(key);
    put_record(record);
  }
  template <typename Record>
  void object(std::string_view key, const std::optional<Record>& record) {
    if (record) object(key, *record, kAlways);
  }
  template <typename Element>
  void copied(std::string_view key, const JsonValue& items, const Element& /*element*/) {
    json_.put(key, items);
  }
  void texts(std::string_view key, const std::vector<std::string>& items,
             Presence presence = kUnlessDefault) {
    array(
        key, items, [&](const std::string& text) { json_.value(text); }, presence);
  }
  void facts(std::string_view key, const std::vector<std::pair<std::string, std::string>>& facts) {
    array(key, facts, [&](const auto& fact) {
      json_.begin_array();
      json_.value(fact.first);
      json_.value(fact.second);
      json_.end_array();
    });
  }

  void node(std::string_view key, NodeIndex index) {
    json_.key(key);
    node_name(index);
  }
  /// Absent if not valid.
  void node_if(std::string_view key, NodeIndex index) {
    if (index.valid()) node(key, index);
  }
  void nodes(std::string_view key, const std::vector<NodeIndex>& indices) {
    array(key, indices, [&](NodeIndex index) { node_name(index); });
  }
  void shares(std::string_view key, const std::vector<NodeShare>& shares) { list(key, shares); }
  void node_set(std::string_view key, NodeSetIndex index) { json_.member(key, index.value(), -1); }
  void node_sets(std::string_view key, const std::vector<NodeSet>& sets) {
    array(key, sets, [&](const NodeSet& set) {
      json_.begin_array();
      for (const NodeIndex index : set) node_name(index);
      json_.end_array();
    });
  }
  void private_data(std::string_view key, const PrivateData& hidden) {
    if (!hidden.any()) return;
    json_.key(key);
    json_.begin_array();
    for_each_private(hidden, [&](const char* word, bool on) {
      if (on) json_.value(word);
    });
    json_.end_array();
  }
  void hints(std::string_view key, const std::optional<ResolvedHints>& hints) {
    if (!hints) return;
    json_.key(key);
    write_hints(json_, *hints);
  }

 private:
  template <typename Record>
  void put_record(const Record& record) {
    json_.begin_object();
    describe(*this, record);
    json_.end_object();
  }
  void node_name(NodeIndex index) {
    const auto& nodes = snapshot_.nodes;
    json_.value(index.within(nodes.size()) ? std::string_view(nodes[index].name) : "?");
  }
  template <typename T>
  void put(std::string_view key, const T& value, Presence presence) {
    if (presence != kUnlessDefault || value != T{}) json_.put(key, value);
  }
  template <typename T, typename Function>
  void array(std::string_view key, const std::vector<T>& items, Function each,
             Presence presence = kUnlessDefault) {
    if (presence == kUnlessDefault && items.empty()) return;
    json_.key(key);
    json_.begin_array();
    for (const T& item : items) each(item);
    json_.end_array();
  }

  const Snapshot& snapshot_;
  Sink json_;
};

using RecordWriter = BasicRecordWriter<JsonWriter>;

/// A record without nodes as a value.
template <typename Record>
[[nodiscard]] JsonValue json_of(const Record& record) {
  const Snapshot none;
  return BasicRecordWriter<JsonTree>(none).value(record);
}

}  // namespace rubato::json

// SPDX-License-Identifier: GPL-2.0-or-later
// Reads records as their descriptions say. A describe() of a record, and its check(), must be
// declared before.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/base/json_value.h"
#include "lib/json/json_documents.h"
#include "lib/json/json_hints.h"
#include "lib/json/record_checks.h"
#include "lib/json/records.h"

namespace rubato::json {

inline constexpr double kMaxAmount = 1e18;

/// What the members of a document refer to: its nodes and node sets.
struct RecordContext {
  std::unordered_map<std::string, NodeIndex> nodes;
  std::size_t sets = 0;
  bool newer = false;          ///< leave out unknown members: those of a later release
  bool lenient = false;        ///< leave out records of the document's lists that cannot be read
  std::size_t left_out = 0;    ///< unknown members and such records
  std::string first_left_out;  ///< where the first one is, and why
  bool known = true;           ///< the current reservation has known nodes only
  bool named = false;          ///< the current record is a reservation

  void leave_out(const std::string& why) {
    if (left_out++ == 0) first_left_out = why;
  }
};

/// Reads the members of a record into it. The first error of a document counts.
class RecordReader {
 public:
  RecordReader(JsonObject& object, RecordContext& context) : object_(object), context_(context) {}

  /// Reads a record with its checks, but without the end of the object.
  template <typename Record>
  static void read(JsonObject& object, RecordContext& context, Record& record) {
    RecordReader reader(object, context);
    describe(reader, record);
    check(object, record);
    if (!context.newer) return;
    for (const std::string& text : object.skip_unknown()) context.leave_out(text);
  }
  template <typename Record>
  static Record read(const JsonItem& item, RecordContext& context) {
    Record record;
    JsonObject object(item);
    read(object, context, record);
    object.finish();
    return record;
  }

  void expected(std::string_view /*name*/) {}
  void note(std::string_view /*name*/, std::string_view /*text*/) {}
  template <typename Value>
  void column(std::string_view /*heading*/, CellFormat /*format*/, const Value& /*value*/) {}
  template <typename Number>
  void above_zero(std::string_view key, const Number& value) {
    object_.optional(key, [&](const JsonItem& item) {
      if (!item.failed() && !(value > Number{})) item.error("expected a number above 0");
    });
  }
  void not_negative(std::string_view key, const std::optional<double>& value) {
    object_.optional(key, [&](const JsonItem& item) {
      if (!item.failed() && value.value_or(0) < 0) item.error("expected a number of at least 0");
    });
  }
  template <typename Value>
  void one_of(std::string_view /*name*/, std::initializer_list<Value> /*values*/) {}
  /// A reader takes all members that a record can have.
  [[nodiscard]] bool rest(bool /*present*/) { return true; }

  void name(std::string_view key, std::string& to) {
    object_.required(key, [&](const JsonItem& item) { to = item.text(); });
  }
  void text(std::string_view key, std::string& to, Presence presence = kUnlessDefault) {
    member(key, presence, [&](const JsonItem& item) { to = item.text(); });
  }
  void yes(std::string_view key, bool& to, bool /*standard*/ = false) { object_.yes(key, to); }
  void yes(std::string_view key, bool& to, Presence presence) {
    member(key, presence, [&](const JsonItem& item) { to = item.yes(); });
  }
  void id(std::string_view key, JobId& to) {
    object_.required(
        key, [&](const JsonItem& item) { to = static_cast<JobId>(item.number(kMaxUint32)); });
  }
  void count(std::string_view key, int& to, int /*standard*/ = 0) { object_.count(key, to); }
  void count(std::string_view key, int& to, Presence presence) {
    member(key, presence, [&](const JsonItem& item) { to = item.count(); });
  }
  void memory(std::string_view key, MiB& to) { object_.memory(key, to); }
  template <typename Number>
  void number(std::string_view key, Number& to, std::uint64_t most,
              std::type_identity_t<Number> /*standard*/ = 0) {
    object_.optional(key,
                     [&](const JsonItem& item) { to = static_cast<Number>(item.number(most)); });
  }
  template <typename Number>
  void number(std::string_view key, Number& to, std::uint64_t most, Presence presence) {
    member(key, presence,
           [&](const JsonItem& item) { to = static_cast<Number>(item.number(most)); });
  }
  void time(std::string_view key, Seconds& to, Presence presence = kUnlessDefault) {
    member(key, presence, [&](const JsonItem& item) { to = item.time(); });
  }
  void real(std::string_view key, double& to, Presence presence = kUnlessDefault) {
    member(key, presence, [&](const JsonItem& item) { to = item.real(); });
  }
  void real(std::string_view key, double& to, double /*standard*/) { real(key, to); }
  void past(std::string_view key, Seconds& to, Presence presence = kUnlessDefault) {
    number(key, to, static_cast<std::uint64_t>(kJsonMaxTime), presence);
  }
  void real(std::string_view key, std::optional<double>& to) {
    object_.optional(key, [&](const JsonItem& item) { to = item.real(); });
  }
  void amount(std::string_view key, double& to) { limited(key, to, kMaxAmount, "1e18"); }
  void known_amount(std::string_view key, double& to) { amount(key, to); }
  void fraction(std::string_view key, double& to) { limited(key, to, 1, "1"); }

  template <typename Enum, typename From>
  void word(std::string_view key, Enum& to, From from) {
    object_.optional(key, [&](const JsonItem& item) { read_word(item, to, from); });
  }
  template <typename Enum, typename From>
  void required_word(std::string_view key, Enum& to, From from) {
    object_.required(key, [&](const JsonItem& item) { read_word(item, to, from); });
  }
  template <typename Enum, typename From>
  void word_unless(std::string_view key, Enum& to, Enum /*standard*/, From from) {
    word(key, to, from);
  }

  template <typename T>
  void list(std::string_view key, std::vector<T>& to, std::size_t most = kUnlimited,
            Presence presence = kUnlessDefault) {
    member(key, presence, [&](const JsonItem& items) {
      const bool alone = context_.lenient && is_list_of_document(items);
      items.elements([&](const JsonItem& item) {
        if (to.size() >= most) return;
        if (alone) {
          add_if_readable(item, to);
        } else {
          add(item, to);
        }
      });
    });
  }
  template <typename Record>
  void object(std::string_view key, Record& to, Presence presence = kUnlessDefault) {
    member(key, presence, [&](const JsonItem& item) { to = read<Record>(item, context_); });
  }
  /// Reads a list of `Element`s with a name and a value.
  template <typename Value, typename Element>
  void table(std::string_view key, std::map<std::string, Value>& to, Element /*element*/,
             Presence presence = kUnlessDefault) {
    member(key, presence, [&](const JsonItem& items) {
      items.elements([&](const JsonItem& item) {
        const auto [name, value] = read<Element>(item, context_);
        if (!item.failed() && !to.emplace(name, value).second) item.error("names its type again");
      });
    });
  }
  /// Reads an object whose members are records.
  template <typename Record>
  void by_name(std::string_view key, std::map<std::string, Record>& to) {
    object_.optional(key, [&](const JsonItem& item) {
      if (!item.value().is_object()) return item.error("expected an object");
      for (const auto& [name, value] : item.value().items()) {
        const JsonPath path{&item.path(), name, 0};
        to[name] = read<Record>(JsonItem(value, path, item.errors()), context_);
      }
    });
  }
  void texts(std::string_view key, std::vector<std::string>& to) {
    elements(key, [&](const JsonItem& item) { to.push_back(item.text()); });
  }
  void facts(std::string_view key, std::vector<std::pair<std::string, std::string>>& to) {
    elements(key, [&](const JsonItem& fact) {
      std::vector<std::string> pair;
      fact.elements([&](const JsonItem& part) { pair.push_back(part.text()); });
      if (!fact.failed() && pair.size() != 2) fact.error("expected a name and a value");
      pair.resize(2);
      to.emplace_back(pair[0], pair[1]);
    });
  }

  void node(std::string_view key, NodeIndex& to) {
    object_.required(key, [&](const JsonItem& item) { to = node_index(item); });
  }
  void node_if(std::string_view key, NodeIndex& to) {
    object_.optional(key, [&](const JsonItem& item) { to = node_index(item); });
  }
  void nodes(std::string_view key, std::vector<NodeIndex>& to) {
    object_.optional(key, [&](const JsonItem& item) { to = node_list(item); });
  }
  void shares(std::string_view key, std::vector<NodeShare>& to) {
    list(key, to);
    // Since the file was written, slurm.conf may have got another order of nodes.
    if (context_.lenient)
      std::sort(to.begin(), to.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
    if (context_.known &&
        !ascending(to, [](const auto& a, const auto& b) { return a.node < b.node; }))
      object_.error_at(key, kNodeOrder);
  }
  void node_set(std::string_view key, NodeSetIndex& to) {
    object_.optional(key, [&](const JsonItem& item) {
      const auto index = item.number(kMaxInt);
      if (!item.failed() && index >= context_.sets)
        item.error(fmt::format("is {}, but there are {} node sets", index, context_.sets));
      to = item.failed() ? NodeSetIndex() : NodeSetIndex{index};
    });
  }
  void node_sets(std::string_view key, std::vector<NodeSet>& to) {
    elements(key, [&](const JsonItem& item) { to.push_back(node_list(item)); });
    context_.sets = to.size();
  }
  void private_data(std::string_view key, PrivateData& to) {
    elements(key, [&](const JsonItem& item) {
      const std::string word = item.text();
      bool known = false;
      for_each_private(to, [&](const char* name, bool& on) {
        if (word != name) return;
        known = true;
        on = true;
      });
      if (!item.failed() && !known)
        item.error(fmt::format("unknown word {} of PrivateData", json_text(JsonValue(word))));
    });
  }
  void hints(std::string_view key, std::optional<ResolvedHints>& to) {
    object_.optional(key, [&](const JsonItem& item) { to = read_hints(item); });
  }

 private:
  static constexpr const char* kNodeOrder =
      "nodes must be in the order of \"nodes\", each only once";

  template <typename Function>
  void member(std::string_view key, Presence presence, Function read) {
    if (presence == kRequired) {
      object_.required(key, read);
    } else {
      object_.optional(key, read);
    }
  }
  template <typename Function>
  void elements(std::string_view key, Function each) {
    object_.optional(key, [&](const JsonItem& item) { item.elements(each); });
  }
  void limited(std::string_view key, double& to, double most, const char* shown) {
    object_.optional(key, [&](const JsonItem& item) {
      to = item.real();
      if (!(to >= 0 && to <= most)) item.error(fmt::format("must be from 0 to {}", shown));
    });
  }
  template <typename Enum, typename From>
  static void read_word(const JsonItem& item, Enum& to, From from) {
    const std::string text = item.text();
    if (item.failed()) return;
    const std::optional<Enum> value = from(text);
    if (value) {
      to = *value;
      return;
    }
    std::string words;
    for (int i = 0; from(to_string(static_cast<Enum>(i))); ++i)
      words += fmt::format("{}{}", i > 0 ? ", " : "", to_string(static_cast<Enum>(i)));
    item.error(fmt::format("unknown word {}; one of: {}", json_ascii(item.value()), words));
  }

  static bool is_list_of_document(const JsonItem& items) {
    const JsonPath* const object = items.path().parent;
    return object != nullptr && object->parent == nullptr;
  }
  /// Adds a record whole, or leaves it out.
  template <typename T>
  void add_if_readable(const JsonItem& item, std::vector<T>& to) {
    JsonErrors errors;
    const std::size_t before = to.size();
    add(JsonItem(item.value(), item.path(), errors), to);
    if (!errors.any()) return;
    to.resize(before);
    context_.leave_out(*errors.first);
  }
  template <typename T>
  void add(const JsonItem& item, std::vector<T>& to) {
    to.push_back(read<T>(item, context_));
  }
  template <typename T>
  void add(const JsonItem& item, std::vector<std::shared_ptr<const T>>& to) {
    to.push_back(std::make_shared<const T>(read<T>(item, context_)));
  }
  /// A node gets its index, which later members refer to.
  void add(const JsonItem& item, std::vector<Node>& to) {
    Node node = read<Node>(item, context_);
    if (!context_.nodes.emplace(node.name, NodeIndex{to.size()}).second)
      JsonObject(item).error_at("name", "another node has this name");
    to.push_back(std::move(node));
  }
  void add(const JsonItem& item, std::vector<Reservation>& to) {
    context_.known = true;
    context_.named = true;
    Reservation one = read<Reservation>(item, context_);
    context_.named = false;
    if (!context_.known) item.error("names an unknown node");
    if (context_.known) to.push_back(std::move(one));
    context_.known = true;
  }

  /// The index of a node; no index for an unknown node, which is an error except in a reservation.
  NodeIndex node_index(const JsonItem& item) {
    const std::string name = item.text();
    if (item.failed()) return {};
    const auto at = context_.nodes.find(name);
    if (at != context_.nodes.end()) return at->second;
    if (context_.named) {
      context_.known = false;
    } else {
      item.error(fmt::format("no node has the name {}", json_text(JsonValue(name))));
    }
    return {};
  }
  std::vector<NodeIndex> node_list(const JsonItem& item) {
    std::vector<NodeIndex> indices;
    item.elements([&](const JsonItem& element) { indices.push_back(node_index(element)); });
    if (!item.failed() && !ascending(indices, std::less<>())) item.error(kNodeOrder);
    return indices;
  }

  JsonObject& object_;
  RecordContext& context_;
};

/// Reads a document. `context` has the nodes that it may name.
template <typename Record>
Result<Record> document(std::string_view text, const char* schema, RecordContext& context) {
  return parse<Record>(text, schema, [&](JsonObject& object) {
    Record record;
    RecordReader::read(object, context, record);
    return record;
  });
}
/// The same for a document without nodes, or with its own.
template <typename Record>
Result<Record> document(std::string_view text, const char* schema) {
  RecordContext context;
  return document<Record>(text, schema, context);
}
/// The same for what slurmctld keeps: members of a later release are left out.
template <typename Record>
Result<Record> kept_document(std::string_view text, const char* schema) {
  RecordContext context;
  context.newer = true;
  return document<Record>(text, schema, context);
}

}  // namespace rubato::json

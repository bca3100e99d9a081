// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the documents of json.h member by member; json_read.cc has the snapshot, json_read_plan.cc
// the rest.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/json_reader.h"
#include "lib/core/plan.h"
#include "lib/core/snapshot.h"

namespace rubato::json {

template <typename T, typename Compare>
bool ascending(const std::vector<T>& items, Compare less) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    if (!less(items[i - 1], items[i])) return false;
  }
  return true;
}

template <typename Enum, typename From>
void word(JsonObject& object, std::string_view name, From from, Enum& to) {
  object.optional(name, [&](const JsonItem& item) {
    const std::string text = item.text();
    if (item.failed()) return;
    const std::optional<Enum> value = from(text);
    if (value) {
      to = *value;
      return;
    }
    std::string words;
    for (int i = 0; from(to_string(static_cast<Enum>(i))); ++i) {
      words += fmt::format("{}{}", i > 0 ? ", " : "", to_string(static_cast<Enum>(i)));
    }
    item.error(fmt::format("unknown word {}; one of: {}",
                           item.value().dump(-1, ' ', true, JsonValue::error_handler_t::replace),
                           words));
  });
}

/// Calls `each(word, member)` for every member, in the order of slurm.conf(5). `Hidden` is
/// PrivateData or const PrivateData.
template <typename Hidden, typename Each>
void for_each_private(Hidden& hidden, Each each) {
  each("accounts", hidden.accounts);
  each("jobs", hidden.jobs);
  each("nodes", hidden.nodes);
  each("partitions", hidden.partitions);
  each("usage", hidden.usage);
  each("users", hidden.users);
}

/// Parses `text`, checks its schema and hands the object to `read`. No exception leaves it.
template <typename T, typename Function>
Result<T> parse(std::string_view text, const char* schema, Function read) {
  try {
    const JsonValue document = JsonValue::parse(text);
    JsonErrors errors;
    const JsonPath root;
    JsonObject object(JsonItem(document, root, errors));
    object.required("schema", [&](const JsonItem& item) {
      const std::string found = item.text();
      if (!item.failed() && found != schema) {
        item.error(fmt::format("expected \"{}\", found {}", schema, JsonValue(found).dump()));
      }
    });
    if (errors.any()) return fail(*errors.first);
    T value = read(object);
    object.finish();
    if (errors.any()) return fail(*errors.first);
    return value;
  } catch (const JsonValue::exception& error) {
    return fail(fmt::format("not JSON: {}", error.what()));
  }
}

/// Knows the nodes and node sets that the other members name.
class Reader {
 public:
  Reader() = default;
  explicit Reader(const Snapshot& snapshot) {
    for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
      nodes_.emplace(snapshot.nodes[i].name, static_cast<int>(i));
    }
  }

  Snapshot snapshot(JsonObject& object);
  Plan plan(JsonObject& object);
  /// With `drop`, reservations on unknown nodes are left out instead of being errors.
  Memory memory(JsonObject& object, bool drop);
  static Explanation explanation(const JsonItem& item);

 private:
  Node node(const JsonItem& item);
  Partition partition(const JsonItem& item);
  PrivateData private_data(const JsonItem& item);
  Request request(const JsonItem& item);
  Job job(const JsonItem& item);
  void job_names(JsonObject& object, Job& job);
  void job_standing(JsonObject& object, Job& job);
  JobMemory job_memory(const JsonItem& item);
  Service service(const JsonItem& item);
  static TypeLoad load(const JsonItem& item);
  Progress progress(const JsonItem& item);
  Reservation reservation(const JsonItem& item, bool& known);
  std::vector<Reservation> reservations(const JsonItem& item, bool drop);
  Start start(const JsonItem& item);

  /// -1 and `known` false, or an error, if no node has the name.
  int node_index(const JsonItem& item, bool* known = nullptr);
  std::vector<int> node_list(const JsonItem& item);
  NodeShare share(const JsonItem& item, bool* known);
  std::vector<NodeShare> shares(const JsonItem& item, bool* known = nullptr);
  int set_index(const JsonItem& item);
  static void job_key(JsonObject& object, JobKey& key);

  template <typename T, typename Function>
  static void list(JsonObject& object, std::string_view name, std::vector<T>& to, Function each) {
    object.optional(name, [&](const JsonItem& item) {
      item.elements([&](const JsonItem& element) { to.push_back(each(element)); });
    });
  }

  std::unordered_map<std::string, int> nodes_;
  std::size_t sets_ = 0;
};

}  // namespace rubato::json

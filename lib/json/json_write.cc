// SPDX-License-Identifier: GPL-2.0-or-later
// Snapshot, plan and state file to JSON. records.h describes the members.
#include "lib/base/json_writer.h"
#include "lib/json/json.h"
#include "lib/json/json_hints.h"
#include "lib/json/records.h"

namespace rubato {
namespace {

using json::describe;

constexpr std::size_t kBytesPerNode = 200;
constexpr std::size_t kBytesPerJob = 600;

/// Writes the members of a record. Members with their default are left out.
class RecordWriter {
 public:
  explicit RecordWriter(const Snapshot& snapshot) : snapshot_(snapshot) {}

  template <typename Record>
  [[nodiscard]] std::string document(const char* schema, const Record& record, std::size_t bytes) {
    json_.reserve(bytes);
    json_.begin_object();
    if (schema != nullptr) json_.put("schema", schema);
    describe(*this, record);
    json_.end_object();
    return json_.take();
  }

  void expected(std::string_view /*name*/) {}
  void note(std::string_view /*name*/, std::string_view /*text*/) {}

  void name(std::string_view key, const std::string& text) { json_.put(key, text); }
  void text(std::string_view key, const std::string& text) { json_.member(key, text); }
  void yes(std::string_view key, bool yes, bool standard = false) {
    json_.member(key, yes, standard);
  }
  void id(std::string_view key, JobId id) { json_.put(key, id); }
  void count(std::string_view key, int count, int standard = 0) {
    json_.member(key, count, standard);
  }
  void memory(std::string_view key, MiB memory) { json_.member(key, memory); }
  template <typename Number>
  void number(std::string_view key, Number value, std::uint64_t /*most*/,
              std::type_identity_t<Number> standard = 0) {
    json_.member(key, value, standard);
  }
  void time(std::string_view key, Seconds time) { json_.member_time(key, time); }
  void real(std::string_view key, double value) { json_.member(key, value); }
  void real(std::string_view key, const std::optional<double>& value) {
    if (value) json_.put(key, *value);
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
  void list(std::string_view key, const std::vector<T>& items, std::size_t /*most*/ = 0) {
    array(key, items, [&](const T& item) {
      json_.begin_object();
      describe(*this, item);
      json_.end_object();
    });
  }
  template <typename Record>
  void object(std::string_view key, const Record& record) {
    if (record == Record{}) return;
    json_.key(key);
    json_.begin_object();
    describe(*this, record);
    json_.end_object();
  }
  void texts(std::string_view key, const std::vector<std::string>& items) {
    array(key, items, [&](const std::string& text) { json_.value(text); });
  }
  void facts(std::string_view key, const std::vector<std::pair<std::string, std::string>>& facts) {
    array(key, facts, [&](const auto& fact) {
      json_.begin_array();
      json_.value(fact.first);
      json_.value(fact.second);
      json_.end_array();
    });
  }

  void node(std::string_view key, int index) {
    json_.key(key);
    node_name(index);
  }
  void nodes(std::string_view key, const std::vector<int>& indices) {
    array(key, indices, [&](int index) { node_name(index); });
  }
  void shares(std::string_view key, const std::vector<NodeShare>& shares) { list(key, shares); }
  void node_set(std::string_view key, int index) { json_.member(key, index, -1); }
  void node_sets(std::string_view key, const std::vector<NodeSet>& sets) {
    array(key, sets, [&](const NodeSet& set) {
      json_.begin_array();
      for (const int index : set) node_name(index);
      json_.end_array();
    });
  }
  void private_data(std::string_view key, const PrivateData& hidden) {
    if (!hidden.any()) return;
    json_.key(key);
    json_.begin_array();
    json::for_each_private(hidden, [&](const char* word, bool on) {
      if (on) json_.value(word);
    });
    json_.end_array();
  }
  void hints(std::string_view key, const std::optional<ResolvedHints>& hints) {
    if (!hints) return;
    json_.key(key);
    json::write_hints(json_, *hints);
  }

 private:
  void node_name(int index) {
    const auto at = static_cast<std::size_t>(index);
    json_.value(at < snapshot_.nodes.size() ? std::string_view(snapshot_.nodes[at].name) : "?");
  }
  template <typename T, typename Function>
  void array(std::string_view key, const std::vector<T>& items, Function each) {
    if (items.empty()) return;
    json_.key(key);
    json_.begin_array();
    for (const T& item : items) each(item);
    json_.end_array();
  }

  const Snapshot& snapshot_;
  JsonWriter json_;
};

}  // namespace

std::string to_json(const Snapshot& snapshot) {
  const std::size_t bytes =
      snapshot.nodes.size() * kBytesPerNode + snapshot.jobs.size() * kBytesPerJob;
  return RecordWriter(snapshot).document(kSnapshotSchema, snapshot, bytes);
}

std::string to_json(const Plan& plan, const Snapshot& snapshot) {
  return RecordWriter(snapshot).document(kPlanSchema, plan,
                                         plan.explanations.size() * kBytesPerJob);
}

std::string to_json(const Memory& memory, const Snapshot& snapshot) {
  return RecordWriter(snapshot).document(kStateSchema, memory, 0);
}

std::string to_json(const Explanation& explanation) {
  const Snapshot none;
  return RecordWriter(none).document(nullptr, explanation, 0);
}

}  // namespace rubato

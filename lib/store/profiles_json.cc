// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles as JSON.
#include <fmt/format.h>

#include <utility>

#include "lib/base/json_writer.h"
#include "lib/store/profile_members.h"

namespace rubato::store {

using namespace profile;  // NOLINT(google-build-using-namespace)

namespace {

/// Writes a member of a row as JSON; omits unknown values.
struct JsonMembers {
  JsonWriter& json;

  void name(const char* member, const std::string& text) const { json.put(member, text); }
  void text(const char* member, const std::string& text) const { json.member(member, text); }
  void plan(const char* member, const std::string& text) const { json.member(member, text); }
  void yes(const char* member, bool value) const { json.member(member, value); }
  template <typename Count>
  void count(const char* member, Count value, std::int64_t, std::int64_t, bool required) const {
    if (required || value != 0) json.put(member, value);
  }
  void throughput(const char* member, double value, bool) const { json.put(member, value); }
  void seconds(const char* member, const std::optional<double>& value) const {
    if (value) json.put(member, *value);
  }
};

/// Reads members from JSON. Keeps the first error.
struct JsonSource {
  JsonObject& object;

  void name(const char* member, std::string& to) {
    object.required(member, [&](const JsonItem& item) { to = checked(item, wrong_name); });
  }
  void text(const char* member, std::string& to) {
    object.optional(member, [&](const JsonItem& item) { to = checked(item, wrong_text); });
  }
  void plan(const char* member, std::string& to) {
    object.optional(member, [&](const JsonItem& item) { to = checked(item, wrong_plan); });
  }
  void yes(const char* member, bool& to) { object.yes(member, to); }
  template <typename Count>
  void count(const char* member, Count& to, std::int64_t least, std::int64_t most, bool required) {
    const auto read = [&](const JsonItem& item) {
      to = static_cast<Count>(item.number(static_cast<std::uint64_t>(most)));
      if (!item.failed() && to < least) item.error("expected a number above 0");
    };
    required ? object.required(member, read) : object.optional(member, read);
  }
  void throughput(const char* member, double& to, bool required) {
    const auto read = [&](const JsonItem& item) { to = real(item, kMaxThroughput, true); };
    required ? object.required(member, read) : object.optional(member, read);
  }
  void seconds(const char* member, std::optional<double>& to) {
    object.optional(member, [&](const JsonItem& item) { to = real(item, kMaxThroughput, false); });
  }

 private:
  static std::string checked(const JsonItem& item, std::string (*wrong_of)(const std::string&)) {
    std::string value = item.text();
    if (item.failed()) return value;
    if (const std::string wrong = wrong_of(value); !wrong.empty()) item.error(wrong);
    return value;
  }
  static double real(const JsonItem& item, double most, bool above_zero) {
    const double value = item.real();
    if (const std::string wrong = wrong_real(value, most, above_zero);
        !item.failed() && !wrong.empty()) {
      item.error(wrong);
    }
    return value == 0 ? 0.0 : value;  // -0 is 0
  }
};

}  // namespace

std::string profiles_to_json(std::vector<ProfileRow> rows) {
  std::string out = fmt::format("{{\"schema\":\"{}\",\"profiles\":[", kProfilesSchema);
  bool first = true;
  for (const ProfileRow& row : in_order(std::move(rows))) {
    JsonWriter json;
    json.begin_object();
    JsonMembers members{json};
    for_each_member(row, members);
    json.end_object();
    out += first ? "\n" : ",\n";
    out += json.take();
    first = false;
  }
  return out + "\n]}\n";
}

Result<std::vector<ProfileRow>> profiles_from_json(std::string_view text, const std::string& name) {
  auto read = json::parse<std::vector<ProfileRow>>(text, kProfilesSchema, [](JsonObject& object) {
    std::vector<ProfileRow> rows;
    object.required("profiles", [&](const JsonItem& list) {
      list.elements([&](const JsonItem& item) {
        ProfileRow row;
        JsonObject members(item);
        JsonSource source{members};
        for_each_member(row, source);
        members.finish();
        complete(row);
        if (const std::string wrong = wrong_row(row); !item.failed() && !wrong.empty()) {
          item.error(wrong);
        }
        if (rows.size() >= kMaxProfiles) {
          item.error(fmt::format("more than {} rows; write several files", kMaxProfiles));
        }
        rows.push_back(std::move(row));
      });
      const std::size_t twice = repeated(rows);
      if (!list.failed() && twice < rows.size()) {
        const JsonPath at{&list.path(), {}, twice};
        list.errors().add(at, kTwice);
      }
    });
    return rows;
  });
  if (!read) return fail(fmt::format("{}: {}", name, read.error().text));
  return read;
}

}  // namespace rubato::store

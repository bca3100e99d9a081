// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles as CSV.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/csv.h"
#include "lib/base/nearest.h"
#include "lib/store/profile_members.h"

namespace rubato::store {

using namespace profile;  // NOLINT(google-build-using-namespace)

namespace {

/// Names of members, in order.
struct Names {
  std::vector<std::string> names;

  void name(const char* member, const std::string&) { names.emplace_back(member); }
  void text(const char* member, const std::string&) { names.emplace_back(member); }
  void plan(const char* member, const std::string&) { names.emplace_back(member); }
  void yes(const char* member, bool) { names.emplace_back(member); }
  template <typename Count>
  void count(const char* member, Count, std::int64_t, std::int64_t, bool) {
    names.emplace_back(member);
  }
  void throughput(const char* member, double, bool) { names.emplace_back(member); }
  void seconds(const char* member, const std::optional<double>&) { names.emplace_back(member); }
};

std::vector<std::string> member_names() {
  const ProfileRow row;
  Names names;
  for_each_member(row, names);
  return names.names;
}

/// Fields of one CSV row; unknown values are empty.
struct CsvFields {
  std::vector<std::string> fields;

  static std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out.append(c == '"' ? 2 : 1, c);
    return out + "\"";
  }
  void name(const char*, const std::string& text) { fields.push_back(text); }
  void text(const char*, const std::string& text) { fields.push_back(quoted(text)); }
  void plan(const char*, const std::string& text) { fields.push_back(quoted(text)); }
  void yes(const char*, bool value) { fields.emplace_back(value ? "yes" : "no"); }
  template <typename Count>
  void count(const char*, Count value, std::int64_t, std::int64_t, bool required) {
    fields.push_back(required || value != 0 ? fmt::format("{}", value) : "");
  }
  void throughput(const char*, double value, bool) { fields.push_back(fmt::format("{}", value)); }
  void seconds(const char*, const std::optional<double>& value) {
    fields.push_back(value ? fmt::format("{}", *value) : "");
  }
};

/// Reads members from CSV.
class CsvSource {
 public:
  CsvSource(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  void name(const char* member, std::string& to) { checked(member, true, wrong_name, to); }
  void text(const char* member, std::string& to) { checked(member, false, wrong_text, to); }
  void plan(const char* member, std::string& to) { checked(member, false, wrong_plan, to); }
  void yes(const char* member, bool& to) {
    const auto at = field(member, false);
    if (!at) return;
    to = table_.text(row_, *at) == "yes";
    if (!to && table_.text(row_, *at) != "no") refuse(*at, "expected yes or no");
  }
  template <typename Count>
  void count(const char* member, Count& to, std::int64_t least, std::int64_t most, bool required) {
    const auto at = field(member, required);
    if (!at) return;
    const auto value = table_.whole(row_, *at);
    if (!value || *value < least || *value > most) {
      return refuse(*at, fmt::format("expected a whole number from {} to {}", least, most));
    }
    to = static_cast<Count>(*value);
  }
  void throughput(const char* member, double& to, bool required) {
    if (const auto at = field(member, required)) to = real(*at, true);
  }
  void seconds(const char* member, std::optional<double>& to) {
    if (const auto at = field(member, false)) to = real(*at, false);
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  /// The column of a member, if its field is not empty.
  std::optional<std::size_t> field(const char* member, bool required) {
    if (error_) return std::nullopt;
    const auto at = table_.column(member);
    if (!at) {
      if (required) error_ = at.error();
      return std::nullopt;
    }
    if (table_.text(row_, *at).empty()) {
      if (required) refuse(*at, "empty; this column must have a value");
      return std::nullopt;
    }
    return *at;
  }
  void checked(const char* member, bool required, std::string (*wrong_of)(const std::string&),
               std::string& to) {
    const auto at = field(member, required);
    if (!at) return;
    to = table_.text(row_, *at);
    if (const std::string wrong = wrong_of(to); !wrong.empty()) refuse(*at, wrong);
  }
  double real(std::size_t at, bool above_zero) {
    const auto value = table_.number(row_, at);
    const std::string wrong =
        value ? wrong_real(*value, kMaxThroughput, above_zero) : "expected a finite number";
    if (!wrong.empty()) refuse(at, wrong);
    return value && *value != 0 ? *value : 0.0;
  }
  void refuse(std::size_t at, std::string_view text) {
    if (!error_) error_ = table_.error(row_, at, text).value();
  }

  const CsvTable& table_;
  std::size_t row_;
  std::optional<Error> error_;
};

}  // namespace

std::string profiles_to_csv(std::vector<ProfileRow> rows) {
  std::string out = fmt::format("{}\n", fmt::join(member_names(), ","));
  for (const ProfileRow& row : in_order(std::move(rows))) {
    CsvFields fields;
    for_each_member(row, fields);
    out += fmt::format("{}\n", fmt::join(fields.fields, ","));
  }
  return out;
}

Result<std::vector<ProfileRow>> profiles_from_csv(std::string_view text, const std::string& name) {
  const auto table = CsvTable::parse(text, name);
  if (!table) return tl::unexpected(table.error());
  const std::vector<std::string> known = member_names();
  for (const std::string& heading : table->headings()) {
    if (std::find(known.begin(), known.end(), heading) != known.end()) continue;
    return fail(fmt::format("{}:1: column '{}': must be one of {}{}", name, heading,
                            fmt::join(known, ", "), did_you_mean(heading, known)));
  }
  for (const char* needed : {"job_type", "gpus", "samples", "rate"}) {
    if (const auto at = table->column(needed); !at) return tl::unexpected(at.error());
  }
  if (table->rows() > kMaxProfiles) {
    return fail(fmt::format("{}:{}: more than {} rows; write several files", name,
                            table->line(kMaxProfiles), kMaxProfiles));
  }
  std::vector<ProfileRow> rows;
  for (std::size_t i = 0; i < table->rows(); ++i) {
    ProfileRow row;
    CsvSource source(*table, i);
    for_each_member(row, source);
    if (source.error()) return tl::unexpected(*source.error());
    complete(row);
    if (const std::string wrong = wrong_row(row); !wrong.empty()) {
      return fail(fmt::format("{}:{}: {}", name, table->line(i), wrong));
    }
    rows.push_back(std::move(row));
  }
  if (const std::size_t twice = repeated(rows); twice < rows.size()) {
    return fail(fmt::format("{}:{}: {}", name, table->line(twice), kTwice));
  }
  return rows;
}

}  // namespace rubato::store

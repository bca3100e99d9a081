// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lib/config/nearest.h"
#include "lib/core/json_documents.h"
#include "lib/core/json_writer.h"
#include "lib/hints/types.h"
#include "lib/sim/csv.h"

namespace rubato::store {
namespace {

constexpr double kMostRate = 1e15;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestText = 256;

auto key_of(const ProfileRow& row) {
  const KindGroup& g = row.group;
  return std::tie(row.type.name, row.type.account, row.gpu_type, row.gpus, g.nodes, g.plan, g.batch,
                  g.cores, g.workers, g.servers, g.server_cores);
}

/// Members in the order in which they are written. `Row` is ProfileRow or const ProfileRow.
template <typename Row, typename Visitor>
void for_each_member(Row& row, Visitor& visit) {
  auto& g = row.group;
  visit.text("account", row.type.account);
  visit.name("job_type", row.type.name);
  visit.yes("shared", row.type.shared);
  visit.text("gpu_type", row.gpu_type);
  visit.count("gpus", row.gpus, 0, kMostGpus, true);
  visit.count("nodes", g.nodes, 0, kMostGpus, false);
  visit.plan("plan", g.plan);
  visit.count("batch", g.batch, 0, kMostBatch, false);
  visit.count("cores", g.cores, 0, kJsonMaxCount, false);
  visit.count("workers", g.workers, 0, kMostGpus, false);
  visit.count("servers", g.servers, 0, kMostGpus, false);
  visit.count("server_cores", g.server_cores, 0, kMostGpus, false);
  visit.count("samples", g.samples, 1, kMostWork, true);
  visit.count("jobs", g.jobs, 0, kMostWork, false);
  visit.rate("rate", g.mean_rate, true);
  visit.rate("rate_min", g.least_rate, false);
  visit.rate("rate_max", g.most_rate, false);
  visit.rate("rate_last", g.last_rate, false);
  visit.seconds("forward", g.forward_time);
  visit.seconds("sync", g.sync_time);
  visit.seconds("optimise", g.optimise_time);
  visit.seconds("iteration", g.iteration_time);
  visit.seconds("noise", g.gradient_noise);
  visit.count("last", g.last, 0, kJsonMaxTime, false);
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._+:@-").find(c) != std::string_view::npos;
}

/// What is wrong with the name of a job type; "" if nothing is.
std::string wrong_name(const std::string& text) {
  if (text.empty()) return "no name; write one such as resnet50";
  if (text.size() > kLongestName) return fmt::format("longer than {} characters", kLongestName);
  if (std::all_of(text.begin(), text.end(), is_name_char)) return {};
  return "not a name; use letters, digits and . _ + : @ -";
}

/// The same of a name that Slurm has checked.
std::string wrong_text(const std::string& text) {
  if (text.size() > kLongestText) return fmt::format("longer than {} bytes", kLongestText);
  const bool fits = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
  });
  return fits ? "" : "has a control character; expected a name";
}

std::string wrong_plan(const std::string& text) {
  if (text.size() > kLongestText) return fmt::format("longer than {} characters", kLongestText);
  const bool fits = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '=' || c == ',';
  });
  return fits ? "" : "not an execution plan; write one such as dp=4,ga=2";
}

std::string wrong_real(double value, double most, bool above_zero) {
  if (!std::isfinite(value) || value < 0 || value > most || (above_zero && value == 0)) {
    return fmt::format("expected a number {} 0 and at most {:g}",
                       above_zero ? "above" : "of at least", most);
  }
  return {};
}

/// What does not fit together in a row; "" if all does.
std::string wrong_row(const ProfileRow& row) {
  const KindGroup& g = row.group;
  if (g.least_rate > g.mean_rate) return "rate_min is above rate";
  if (g.most_rate < g.mean_rate) return "rate_max is below rate";
  if (g.last_rate < g.least_rate || g.last_rate > g.most_rate) {
    return "rate_last is not between rate_min and rate_max";
  }
  if (row.gpus == 0 && !row.gpu_type.empty()) return "gpus is 0, but a GPU type is named";
  return {};
}

void complete(ProfileRow& row) {
  KindGroup& g = row.group;
  if (g.least_rate == 0) g.least_rate = g.mean_rate;
  if (g.most_rate == 0) g.most_rate = g.mean_rate;
  if (g.last_rate == 0) g.last_rate = g.mean_rate;
  g.imported = true;
}

/// A member of one row as JSON; what is not known is left out.
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
  void rate(const char* member, double value, bool) const { json.put(member, value); }
  void seconds(const char* member, const std::optional<double>& value) const {
    if (value) json.put(member, *value);
  }
};

/// The same from JSON. The first error stands.
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
  void rate(const char* member, double& to, bool required) {
    const auto read = [&](const JsonItem& item) { to = real(item, kMostRate, true); };
    required ? object.required(member, read) : object.optional(member, read);
  }
  void seconds(const char* member, std::optional<double>& to) {
    object.optional(member, [&](const JsonItem& item) { to = real(item, kMostRate, false); });
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

/// Names of the members, in order.
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
  void rate(const char* member, double, bool) { names.emplace_back(member); }
  void seconds(const char* member, const std::optional<double>&) { names.emplace_back(member); }
};

std::vector<std::string> member_names() {
  const ProfileRow row;
  Names names;
  for_each_member(row, names);
  return names.names;
}

/// Fields of one row of the table; what is not known is empty.
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
  void rate(const char*, double value, bool) { fields.push_back(fmt::format("{}", value)); }
  void seconds(const char*, const std::optional<double>& value) {
    fields.push_back(value ? fmt::format("{}", *value) : "");
  }
};

/// The same from a table.
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
  void rate(const char* member, double& to, bool required) {
    if (const auto at = field(member, required)) to = real(*at, true);
  }
  void seconds(const char* member, std::optional<double>& to) {
    if (const auto at = field(member, false)) to = real(*at, false);
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  /// Its column, where there is something to read.
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
        value ? wrong_real(*value, kMostRate, above_zero) : "expected a finite number";
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

/// Rows in the order in which they are written; those that nothing was learnt from are left out.
std::vector<ProfileRow> in_order(std::vector<ProfileRow> rows) {
  for (ProfileRow& row : rows) {
    row.group.samples -= row.group.flagged;
    row.group.flagged = 0;
    row.group.flags.clear();
  }
  std::erase_if(rows, [](const ProfileRow& row) {
    return row.group.samples <= 0 || row.group.mean_rate <= 0;
  });
  std::stable_sort(rows.begin(), rows.end(), profile_before);
  for (ProfileRow& row : rows) {
    // Of samples with a rate of 0.
    KindGroup& g = row.group;
    if (g.least_rate <= 0) g.least_rate = g.mean_rate;
    if (g.last_rate <= 0) g.last_rate = g.mean_rate;
    g.least_rate = std::min(g.least_rate, g.mean_rate);
    g.most_rate = std::max(g.most_rate, g.mean_rate);
    g.last_rate = std::clamp(g.last_rate, g.least_rate, g.most_rate);
  }
  return rows;
}

/// The first row that is there twice; rows() if none is.
std::size_t repeated(const std::vector<ProfileRow>& rows) {
  std::set<decltype(key_of(rows.front()))> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!seen.insert(key_of(rows[i])).second) return i;
  }
  return rows.size();
}

constexpr const char* kTwice = "a row with the same names, plan and counts stands before it";

}  // namespace

bool profile_before(const ProfileRow& a, const ProfileRow& b) { return key_of(a) < key_of(b); }

MeasuredRow measured_row(const ProfileRow& row) {
  const KindGroup& g = row.group;
  MeasuredRow out;
  out.profile = {row.type.account, row.type.name};
  out.gpu_type = row.gpu_type;
  out.gpus = row.gpus;
  out.nodes = g.nodes;
  out.plan = g.plan;
  out.batch = g.batch;
  out.cores = g.cores;
  out.workers = g.workers;
  out.servers = g.servers;
  out.server_cores = g.server_cores;
  out.rate = g.mean_rate;
  out.samples = g.samples - g.flagged;
  out.forward = g.forward_time;
  out.sync = g.sync_time;
  out.optimise = g.optimise_time;
  out.iteration = g.iteration_time;
  out.noise = g.gradient_noise;
  return out;
}

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

std::string profiles_to_csv(std::vector<ProfileRow> rows) {
  std::string out = fmt::format("{}\n", fmt::join(member_names(), ","));
  for (const ProfileRow& row : in_order(std::move(rows))) {
    CsvFields fields;
    for_each_member(row, fields);
    out += fmt::format("{}\n", fmt::join(fields.fields, ","));
  }
  return out;
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
        if (rows.size() >= kMostProfiles) {
          item.error(fmt::format("more than {} rows; write several files", kMostProfiles));
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

Result<std::vector<ProfileRow>> profiles_from_csv(std::string_view text, const std::string& name) {
  const auto table = CsvTable::parse(text, name);
  if (!table) return tl::unexpected(table.error());
  const std::vector<std::string> known = member_names();
  for (const std::string& heading : table->headings()) {
    if (std::find(known.begin(), known.end(), heading) != known.end()) continue;
    return fail(fmt::format("{}:1: column '{}' is none of {}{}", name, heading,
                            fmt::join(known, ", "), did_you_mean(heading, known)));
  }
  for (const char* needed : {"job_type", "gpus", "samples", "rate"}) {
    if (const auto at = table->column(needed); !at) return tl::unexpected(at.error());
  }
  if (table->rows() > kMostProfiles) {
    return fail(fmt::format("{}:{}: more than {} rows; write several files", name,
                            table->line(kMostProfiles), kMostProfiles));
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

Result<std::vector<ProfileRow>> profiles_from(std::string_view text, const std::string& name) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && text[begin] == '{';
  return json ? profiles_from_json(text, name) : profiles_from_csv(text, name);
}

}  // namespace rubato::store

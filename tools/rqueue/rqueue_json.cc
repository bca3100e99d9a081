// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rqueue/rqueue_json.h"

#include <charconv>
#include <cmath>

#include "lib/base/json_value.h"

namespace rubato::tools {
namespace {

enum class Kind { kText, kNumber, kDuration };

struct JsonField {
  const char* field;   ///< of squeue -O
  const char* member;  ///< of the document
  Kind kind;
};

/// squeue runs with SLURM_TIME_FORMAT=%s, so times are seconds since 1970.
constexpr JsonField kFields[] = {
    {"jobarrayid", "label", Kind::kText},
    {"arrayjobid", "array_job_id", Kind::kNumber},
    {"arraytaskid", "array_task_id", Kind::kNumber},
    {"hetjobid", "het_job_id", Kind::kNumber},
    {"cluster", "cluster", Kind::kText},
    {"name", "name", Kind::kText},
    {"username", "user", Kind::kText},
    {"userid", "user_id", Kind::kNumber},
    {"account", "account", Kind::kText},
    {"partition", "partition", Kind::kText},
    {"qos", "qos", Kind::kText},
    {"state", "state", Kind::kText},
    {"reason", "reason", Kind::kText},
    {"prioritylong", "priority", Kind::kNumber},
    {"numnodes", "nodes", Kind::kNumber},
    {"nodelist", "node_list", Kind::kText},
    {"timeused", "time_used", Kind::kDuration},
    {"timelimit", "time_limit", Kind::kDuration},
    {"submittime", "submit", Kind::kNumber},
    {"eligibletime", "eligible", Kind::kNumber},
    {"starttime", "start", Kind::kNumber},
    {"endtime", "end", Kind::kNumber},
    {"restartcnt", "restarts", Kind::kNumber},
    {"dependency", "dependency", Kind::kText},
    {"tres-alloc", "tres", Kind::kText},
};

bool absent(std::string_view text) {
  return text.empty() || text == "(null)" || text == "N/A" || text == "None";
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void add_field(Json& json, const JsonField& field, const std::string& text) {
  if (absent(text)) return;
  if (field.kind == Kind::kText) {
    json[field.member] = text;
  } else if (const auto value =
                 field.kind == Kind::kNumber ? number(text) : seconds_of_duration(text)) {
    json[field.member] = *value;
  }
}

Json rubato_json(const JobFacts& facts) {
  Json json = Json::object();
  if (!facts.job_type.empty()) json["job_type"] = facts.job_type;
  if (facts.level >= 0) json["level"] = facts.level;
  if (!facts.sizes.empty()) {
    json["sizes"] = Json::array();
    for (const auto& [from, to] : facts.sizes.ranges()) {
      json["sizes"].push_back({{"from", from}, {"to", to}});
    }
  }
  if (!facts.plan.empty()) json["plan"] = facts.plan;
  if (facts.throughput >= 0) json["rate"] = facts.throughput;
  if (facts.samples >= 0) json["samples"] = facts.samples;
  if (facts.work > 0) json["work"] = facts.work;
  if (facts.remaining >= 0) json["remaining"] = facts.remaining;
  if (facts.left_low >= 0) json["remaining_low"] = facts.left_low;
  if (facts.left_high >= 0) json["remaining_high"] = facts.left_high;
  if (!facts.predictable.empty()) json["class"] = facts.predictable;
  if (facts.start > 0) json["expected_start"] = facts.start;
  if (!facts.wait.empty()) json["wait"] = facts.wait;
  json["published"] = facts.published;
  return json;
}

}  // namespace

std::vector<FormatField> json_fields() {
  std::vector<FormatField> fields;
  for (const JsonField& field : kFields) fields.push_back({field.field, nullptr, 0, false, ""});
  return fields;
}

std::optional<Seconds> seconds_of_duration(std::string_view text) {
  Seconds days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = number(text.substr(0, dash));
    if (!value || *value < 0) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  Seconds sum = 0;
  int parts = 0;
  while (true) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto value = number(text.substr(0, colon));
    if (!value || *value < 0 || ++parts > 3) return std::nullopt;
    sum = sum * 60 + *value;
    if (colon == text.size()) break;
    text.remove_prefix(colon + 1);
  }
  if (parts < 2) return std::nullopt;
  return days * 86400 + sum;
}

Json job_json(const SqueueRow& row, const JobFacts& facts) {
  Json json;
  json["job_id"] = number(row.job_id).value_or(0);
  for (std::size_t i = 0; i < std::size(kFields); ++i) add_field(json, kFields[i], row.fields[i]);
  // For a job that is not in an array, squeue prints its own id here.
  if (!json.contains("array_task_id") && json.contains("array_job_id") &&
      json["array_job_id"] == json["job_id"] && row.fields[0].find('_') == std::string::npos) {
    json.erase("array_job_id");
  }
  if (!absent(row.texts.comment)) json["comment"] = row.texts.comment;
  if (facts.gpus > 0) json["gpus"] = facts.gpus;
  if (!facts.gpu_type.empty()) json["gpu_type"] = facts.gpu_type;
  json["rubato"] = rubato_json(facts);
  return json;
}

}  // namespace rubato::tools

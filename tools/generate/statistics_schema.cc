// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/statistics_schema.h"

#include "lib/base/json_reader.h"
#include "lib/config/config.h"
#include "lib/json/period_records.h"
#include "lib/json/statistics_table.h"
#include "tools/generate/command_schema.h"
#include "tools/generate/schema_writer.h"
#include "tools/rubato/stats/verdict_records.h"

namespace rubato {
namespace {

using Json = JsonValue;

Json whole() { return {{"type", "integer"}, {"minimum", 0}}; }

Json schema_of(StatisticKind kind) {
  switch (kind) {
    case StatisticKind::kText:
      return {{"type", "string"}};
    case StatisticKind::kMode:
      return {{"enum",
               {to_string(Mode::kObserve), to_string(Mode::kPlace), to_string(Mode::kElastic)}}};
    case StatisticKind::kYesNo:
      return {{"type", "boolean"}};
    case StatisticKind::kTime:
      return {{"type", "integer"}};
    case StatisticKind::kMilliseconds:
      return {{"type", "number"}};
    case StatisticKind::kCounter:
    case StatisticKind::kGauge:
      break;
  }
  return whole();
}

std::string description_of(const Statistic& row) {
  const std::string_view unit = row.kind == StatisticKind::kTime           ? "; seconds since 1970"
                                : row.kind == StatisticKind::kMilliseconds ? "; milliseconds"
                                                                           : "";
  return std::string(row.meaning) + std::string(unit);
}

/// Adds `row` to `object` below the path `key`. "*" stands for members of any name.
void add(Json& object, std::string_view key, const Statistic& row) {
  object["type"] = "object";
  const std::size_t dot = key.find('.');
  const std::string part(key.substr(0, dot));
  Json& member = part == "*" ? object["additionalProperties"] : object["properties"][part];
  if (dot != std::string_view::npos) return add(member, key.substr(dot + 1), row);
  member = schema_of(row.kind);
  member["description"] = description_of(row);
}

}  // namespace

std::string statistics_schema() {
  Json schema = command_schema(
      kStatisticsSchema,
      "rubato stats --json; stats.json has the same without meta, warnings and errors",
      "What is not known is left out.");
  schema["properties"]["schema"] = {{"const", kStatisticsSchema}};
  for (const Statistic& row : statistics::kTable) add(schema, row.key, row);
  Json& properties = schema["properties"];
  properties["store"]["required"] = {"state"};
  properties["report"] =
      json::SchemaWriter::object_schema<json::PeriodsRecord>(json::Members::kClosed);
  const Json extras = json::SchemaWriter::object_schema<tools::StatsExtras>(json::Members::kClosed);
  for (const auto& [member, value] : extras.at("properties").items()) properties[member] = value;
  for (const StatisticGroup& group : kStatisticGroups)
    properties[std::string(group.key)]["description"] = group.meaning;
  return json_text(schema, 2) + "\n";
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/statistics_schema.h"

#include <nlohmann/json.hpp>

#include "lib/base/json_reader.h"
#include "lib/config/config.h"
#include "lib/json/statistics_table.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;

Json whole() { return {{"type", "integer"}, {"minimum", 0}}; }

/// An object that has all of `properties` and no other member.
Json closed_object(Json properties) {
  Json required = Json::array();
  for (const auto& [name, schema] : properties.items()) required.push_back(name);
  return {{"type", "object"},
          {"required", std::move(required)},
          {"properties", std::move(properties)},
          {"additionalProperties", false}};
}

Json schema_of(StatisticKind kind) {
  switch (kind) {
    case StatisticKind::kText:
      return {{"type", "string"}};
    case StatisticKind::kMode:
      return {{"enum", {to_string(Mode::kObserve), to_string(Mode::kPlace)}}};
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

Json waits_schema() {
  return closed_object({{"jobs", whole()}, {"seconds", whole()}, {"longest", whole()}});
}

/// Of group `report`, see lib/json/period.h.
Json report_schema() {
  const Json by_name = {{"type", "object"}, {"additionalProperties", waits_schema()}};
  const Json time = {{"type", "integer"}, {"description", "seconds since 1970"}};
  Json day = closed_object(
      {{"day", {{"type", "integer"}, {"description", "first second of the day, UTC"}}},
       {"mode", {{"type", "string"}}},
       {"waits", waits_schema()},
       {"started", whole()},
       {"earlier", waits_schema()},
       {"not_earlier", whole()},
       {"gpu_seconds", {{"type", "number"}}},
       {"reports", whole()}});
  day["properties"]["by_partition"] = by_name;
  day["properties"]["by_job_type"] = by_name;
  return {{"type", "object"},
          {"required", {"days"}},
          {"properties", {{"until", time}, {"days", {{"type", "array"}, {"items", day}}}}}};
}

Json texts() { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }

/// What every command prints beside its document.
Json meta_schema() {
  return {{"type", "object"},
          {"required", {"schema", "version", "generated"}},
          {"properties",
           {{"schema", {{"const", kStatisticsSchema}}},
            {"version", {{"type", "string"}, {"description", "of the program"}}},
            {"slurm_version", {{"type", "string"}}},
            {"generated", {{"type", "integer"}, {"description", "seconds since 1970"}}}}}};
}

}  // namespace

std::string statistics_schema() {
  Json schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", kStatisticsSchema},
      {"title", "rubato stats --json; stats.json has the same without meta, warnings and errors"},
      {"description",
       "What is not known is left out. New members may be added; the number in the schema changes "
       "when a member is removed or changes its meaning."},
      {"type", "object"},
      {"required", {"meta", "warnings", "errors"}},
      {"properties",
       {{"meta", meta_schema()},
        {"warnings", texts()},
        {"errors", texts()},
        {"schema", {{"const", kStatisticsSchema}}}}}};
  for (const Statistic& row : statistics::kTable) add(schema, row.key, row);
  Json& properties = schema["properties"];
  properties["store"]["required"] = {"state"};
  properties["report"] = report_schema();
  for (const StatisticGroup& group : kStatisticGroups)
    properties[std::string(group.key)]["description"] = group.meaning;
  return json_text(schema, 2) + "\n";
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/record_schema.h"

#include <utility>

#include "lib/base/json_value.h"
#include "lib/json/decisions_records.h"
#include "lib/json/json.h"
#include "lib/json/records.h"
#include "tools/generate/schema_writer.h"

namespace rubato {
namespace {

using Json = JsonValue;
using json::SchemaWriter;

template <typename Record>
std::string schema_of(const char* id, const char* title, const std::string& what) {
  SchemaWriter writer;
  writer.constant("schema", id);
  writer.add<Record>();
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"$id", id},
                 {"title", title},
                 {"description",
                  what + " Times are seconds since 1970, memory is in MiB. A member that is left "
                         "out has its default. New members may be added; the number in the schema "
                         "changes when a member is removed or changes its meaning."}};
  schema.update(writer.take());
  return json_text(schema, 2) + "\n";
}

}  // namespace

std::string snapshot_schema() {
  return schema_of<Snapshot>(kSnapshotSchema, "rubato snapshot; snapshot.json",
                             "The input of one round.");
}

std::string plan_schema() {
  return schema_of<Plan>(kPlanSchema, "rubato snapshot --replay; plan.json",
                         "The plan of one round.");
}

std::string decisions_schema() {
  return schema_of<StartRecords>(kDecisionsSchema, "decisions.json",
                                 "What was decided when the managed jobs that run, or ended within "
                                 "the last hour, started.");
}

}  // namespace rubato

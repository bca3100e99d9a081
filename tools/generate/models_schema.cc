// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/models_schema.h"

#include "lib/base/json_reader.h"
#include "lib/json/models_fit_records.h"
#include "lib/json/models_table_records.h"
#include "lib/store/profile_members.h"
#include "tools/generate/command_schema.h"
#include "tools/generate/schema_writer.h"
#include "tools/rubato/models/change_records.h"
#include "tools/rubato/models/curve_records.h"
#include "tools/rubato/models/models_actions.h"

namespace rubato {
namespace {

using Json = JsonValue;
using json::Members;
using json::SchemaWriter;

/// Visits the members of a profile, whose words are those of both file formats.
struct ProfileSchema : SchemaWriter {
  ProfileSchema() : SchemaWriter(Members::kClosed) {}

  static json::Presence presence(bool required) {
    return required ? json::kRequired : json::kUnlessDefault;
  }
  void plan(const char* key, const std::string& value) { text(key, value); }
  template <typename Count>
  void count(const char* key, Count value, std::int64_t least, std::int64_t most, bool required) {
    number(key, value, static_cast<std::uint64_t>(most), presence(required));
    if (least > 0) above_zero(key, value);
  }
  void throughput(const char* key, double value, bool required) {
    real(key, value, presence(required));
    above_zero(key, value);
  }
  void seconds(const char* key, const std::optional<double>& value) {
    real(key, value);
    not_negative(key, value);
  }
};

}  // namespace

std::string models_schema() {
  Json schema =
      command_schema(kModelsSchema,
                     "rubato models --json; models.json has the same without meta, warnings and "
                     "errors",
                     "The profiles of the job types, their forecasts and the errors of these.");
  schema["properties"]["schema"] = {{"const", kModelsSchema}};
  return document_schema<ModelsTable>(std::move(schema), Members::kClosed);
}

std::string models_fits_schema() {
  return document_schema<json::FitSummaries>(
      command_schema(tools::kModelsFitsSchema, "rubato models show|fit --json",
                     "Models of step times, fitted now."),
      Members::kOpen);
}

std::string models_curve_schema() {
  return document_schema<tools::Curves>(
      command_schema(tools::kModelsCurveSchema, "rubato models curve --json",
                     "What more GPUs would bring a job type."),
      Members::kOpen);
}

std::string models_change_schema() {
  return document_schema<tools::ModelsChange>(
      command_schema(tools::kModelsChangeSchema, "rubato models import|forget --json",
                     "The result of an import or a removal; without an error it has all members."),
      Members::kOpen);
}

std::string models_fit_schema() {
  SchemaWriter writer(Members::kClosed);
  writer.constant("schema", kModelsFitSchema);
  writer.add<ModelsFit>();
  return file_schema(
      kModelsFitSchema, "models-fit.json; rubato snapshot --models",
      "What a round decided by: the configured speeds, and the measured rates that its forecasts "
      "are made from. New members may be added; the number in the schema changes when a member is "
      "removed or changes its meaning.",
      writer.take());
}

std::string profiles_schema() {
  const store::ProfileRow row;
  ProfileSchema members;
  store::profile::for_each_member(row, members);
  SchemaWriter writer(Members::kClosed);
  writer.constant("schema", store::kProfilesSchema);
  writer.required("profiles", SchemaWriter::array_of(members.take()));
  return file_schema(store::kProfilesSchema, "rubato models export",
                     "Profiles as sites share them. What is not known is left out.", writer.take());
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/models_table.h"

#include <gtest/gtest.h>

#include "lib/base/json_value.h"
#include "lib/json/models_table_records.h"
#include "lib/json/record_writer.h"

namespace rubato {
namespace {

ModelRow row(const std::string& job_type, int gpus) {
  ModelRow row;
  row.account = "research";
  row.job_type = job_type;
  row.gpu_type = "a100";
  row.gpus = gpus;
  row.nodes = 1;
  row.batch = 256;
  row.samples = 12;
  row.flagged = 2;
  row.jobs = 3;
  row.throughput_mean = 812.25;
  row.throughput_min = 800;
  row.throughput_max = 820.5;
  row.throughput_last = 810.1;
  row.last = 1800000000;
  return row;
}

// Other programs read these bytes: a change here changes the schema.
TEST(ModelsTable, has_these_bytes) {
  const ForecastRow forecast{"research", "bert", false, "v100", 4, 400.5, 320.25, 501, 0};
  const ErrorRow error{"research", "bert", false, "a100", 0.125, 9};
  const RefusalRow refusal{"research", "bert", false, "a100", 2, 0.25, 0.125, 40};
  const InformativeMeasurementRow measurement{"research", "bert", false, "v100", 4, 0.5, 0.25};
  EXPECT_EQ(
      to_json(
          ModelsTable{1800000060, {row("bert", 4)}, {forecast}, {error}, {refusal}, {measurement}}),
      "{\"schema\":\"rubato.models/1\",\"generated\":1800000060,\"models\":[{\"account\":"
      "\"research\",\"job_type\":\"bert\",\"shared\":false,\"gpu_type\":\"a100\",\"gpus\":4,"
      "\"nodes\":1,\"plan\":\"\",\"batch\":256,\"samples\":12,\"flagged\":2,\"jobs\":3,"
      "\"rate_mean\":812.25,\"rate_min\":800,\"rate_max\":820.5,\"rate_last\":810.1,"
      "\"last\":1800000000}],\"forecasts\":[{\"account\":\"research\",\"job_type\":"
      "\"bert\",\"shared\":false,\"gpu_type\":\"v100\",\"gpus\":4,\"rate\":400.5,"
      "\"rate_low\":320.25,\"rate_high\":501,\"samples\":0}],\"forecast_errors\":[{"
      "\"account\":\"research\",\"job_type\":\"bert\",\"shared\":false,\"gpu_type\":"
      "\"a100\",\"error\":0.125,\"reports\":9}],\"refused_fits\":[{\"account\":\"research\","
      "\"job_type\":\"bert\",\"shared\":false,\"gpu_type\":\"a100\",\"fits\":2,\"error\":0.25,"
      "\"kept_error\":0.125,\"reports\":40}],\"lessons\":[{\"account\":\"research\","
      "\"job_type\":\"bert\",\"shared\":false,\"gpu_type\":\"v100\",\"gpus\":4,"
      "\"within\":0.5,\"after\":0.25}]}");
}

TEST(ModelsTable, HasTheSameMembersAsAValue) {
  ModelRow flagged = row("bert", 2);
  flagged.flags = {{"wall-time", 2}};
  const ModelsTable table{5, {flagged}, {}, {{"", "bert", true, "a100", 0.5, 3}}, {}, {}};
  const auto members = json::json_of(table);
  EXPECT_TRUE(members["models"][0]["rate_min"].is_number_float()) << "800.0 stays a real number";
  JsonValue value{{"schema", kModelsSchema}};
  value.update(members);
  const auto written = JsonValue::parse(to_json(table));
  ASSERT_TRUE(written) << written.error().text;
  EXPECT_EQ(value, *written);
}

TEST(ModelsTable, is_read_back) {
  const ModelsTable table{
      5,
      {row("bert", 2), row("bert", 4), row("vgg", 1)},
      {},
      {{"", "bert", true, "a100", 0.5, 3}},
      {{"", "", true, "", 1, 0.5, 0.25, 8}, {"", "bert", true, "a100", 2, 0.5, 0.25, 9}},
      {{"", "bert", true, "v100", 2, 0.5, 0.25}}};
  const auto back = models_from_json(to_json(table));
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, table);
  EXPECT_EQ(*models_from_json(to_json(ModelsTable{})), ModelsTable{});
}

TEST(ModelsTable, errors_name_the_member) {
  const std::string begin = R"({"schema":"rubato.models/1","generated":1,"models":[)";
  EXPECT_EQ(models_from_json(begin + R"({"job_type":"x","gpus":"4"}]})").error().text,
            "models[0].gpus: expected a whole number, found \"4\"");
  EXPECT_EQ(models_from_json(begin + R"({"job_type":"x","rate_mean":"fast"}]})").error().text,
            "models[0].rate_mean: expected a number, found \"fast\"");
  EXPECT_EQ(models_from_json(begin + R"({"gpus":4}]})").error().text,
            "models[0]: has no member \"job_type\"");
  EXPECT_EQ(models_from_json(R"({"schema":"rubato.plan/1","models":[]})").error().text,
            "schema: expected \"rubato.models/1\", found \"rubato.plan/1\"");
  EXPECT_FALSE(models_from_json(begin + R"({"job_type":"x"},{"job_type":"x"}]})"));
  EXPECT_FALSE(models_from_json("[]"));
}

}  // namespace
}  // namespace rubato

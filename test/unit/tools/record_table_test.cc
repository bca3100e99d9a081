// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/record_table.h"

#include <gtest/gtest.h>

#include "lib/json/models_table_records.h"

namespace rubato::tools {
namespace {

ModelRow bert() {
  ModelRow row;
  row.account = "ml";
  row.job_type = "bert";
  row.gpu_type = "h100";
  row.gpus = 4;
  row.batch = 256;
  row.samples = 12;
  row.flagged = 1;
  row.jobs = 1;
  row.throughput_mean = 40;
  row.throughput_min = 39;
  row.throughput_max = 41;
  return row;
}

TEST(RecordTable, HasTheColumnsOfTheDescription) {
  EXPECT_EQ(record_table(std::vector{bert()}),
            "JOBTYPE  ACCOUNT  GPU   GPUS  NODES  PLAN  BATCH  SAMPLES  FLAGGED  JOBS  THROUGHPUT"
            "  RANGE  LAST\n"
            "bert     ml       h100     4      -  -       256       12        1     1        40.0"
            "     5%  -\n");
}

TEST(RecordTable, ShowsUnknownValuesAsADash) {
  ModelRow unmeasured = bert();
  unmeasured.flagged = unmeasured.samples;
  const std::vector<std::string> cells = cells_of(unmeasured).cells();
  ASSERT_EQ(cells.size(), 13U);
  EXPECT_EQ(cells[10], "-") << "no report counts";
  EXPECT_EQ(cells[11], "-");
  EXPECT_EQ(cells_of(ErrorRow{}).cells(), std::vector<std::string>{"-"});
}

TEST(RecordTable, InsertsColumnsBeforeTheLast) {
  ForecastRow forecast;
  forecast.throughput = 40;
  forecast.throughput_high = 42;
  ColumnCollector cells = cells_of(bert());
  cells.insert_before_last(cells_of(forecast));
  const std::string text = table_of({cells});
  EXPECT_NE(text.find("RANGE  FORECAST  STDDEV  LAST\n"), std::string::npos) << text;
  EXPECT_NE(text.find("5%      40.0      5%  -\n"), std::string::npos) << text;
}

TEST(RecordTable, IsEmptyWithoutRows) { EXPECT_EQ(record_table(std::vector<ModelRow>{}), ""); }

}  // namespace
}  // namespace rubato::tools

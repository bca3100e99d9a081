// SPDX-License-Identifier: GPL-2.0-or-later
// The schemas of snapshot, plan, decisions and models come from the descriptions in lib/json/, that
// of the statistics from lib/json/statistics_table.h. After a change `make schema-docs` writes them
// again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/generate/models_schema.h"
#include "tools/generate/record_schema.h"
#include "tools/generate/statistics_schema.h"

namespace rubato {
namespace {

std::string kept_schema(const char* name) {
  const char* from_environment = std::getenv("RUBATO_SOURCE_DIR");
  const std::filesystem::path source =
      from_environment != nullptr ? from_environment : RUBATO_SOURCE_DIR;
  std::ifstream in(source / "docs/schema" / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RecordSchema, SnapshotIsDescribedAsItIsWritten) {
  EXPECT_EQ(kept_schema("rubato.snapshot.1.json"), snapshot_schema());
}

TEST(RecordSchema, PlanIsDescribedAsItIsWritten) {
  EXPECT_EQ(kept_schema("rubato.plan.1.json"), plan_schema());
}

TEST(RecordSchema, DecisionsAreDescribedAsTheyAreWritten) {
  EXPECT_EQ(kept_schema("rubato.decisions.1.json"), decisions_schema());
}

TEST(RecordSchema, StatisticsAreDescribedAsInTheirTable) {
  EXPECT_EQ(kept_schema("rubato.stats.1.json"), statistics_schema());
}

TEST(RecordSchema, ModelsAreDescribedAsTheyAreWritten) {
  EXPECT_EQ(kept_schema("rubato.models.1.json"), models_schema());
  EXPECT_EQ(kept_schema("rubato.models-fit.1.json"), models_fit_schema());
  EXPECT_EQ(kept_schema("rubato.models-fits.1.json"), models_fits_schema());
  EXPECT_EQ(kept_schema("rubato.models-curve.1.json"), models_curve_schema());
}

}  // namespace
}  // namespace rubato

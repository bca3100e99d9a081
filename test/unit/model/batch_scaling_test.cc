// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/batch_scaling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lib/model/predictor.h"

namespace rubato {
namespace {

const ProfileName kOne{"lab", "one"};
const ProfileName kOther{"lab", "other"};
constexpr double kBandwidth = 8e9;

/// A pass of 10 ms plus 1 ms per sample; a ring all-reduce of 4 bytes per parameter.
double pass_of(double local) { return 0.010 + 0.001 * local; }
double ring_of(double params, int gpus) {
  return 2.0 * (gpus - 1) / gpus * 4 * params / kBandwidth;
}

MeasuredRow row(const ProfileName& profile, double params, int gpus, std::int64_t batch) {
  MeasuredRow out{.profile = profile, .gpu_type = "a100", .gpus = gpus, .nodes = 1};
  out.batch = batch;
  out.throughput = static_cast<double>(batch) /
                   (pass_of(static_cast<double>(batch) / gpus) + ring_of(params, gpus));
  out.samples = 9;
  return out;
}

BatchScaling scaling(std::vector<MeasuredRow> rows, const Batch& range,
                     const std::map<std::string, ModelShape>& shapes = {}) {
  const Predictor predictor(nullptr, std::make_shared<const StepTimeModels>(std::move(rows)));
  JobSpec job{.profile = kOne};
  job.batch = range;
  if (const auto shape = shapes.find(kOne.job_type); shape != shapes.end())
    job.shape = shape->second;
  return predictor.scaling(job, "a100", 16, shapes);
}

TEST(BatchScaling, TablesFollowFromReportsOfOneAndOfSeveralGpus) {
  const double params = 50e6;
  const BatchScaling found = scaling(
      {row(kOne, params, 1, 16), row(kOne, params, 1, 64), row(kOne, params, 4, 128)}, {32, 512});
  ASSERT_TRUE(found.analysed);
  EXPECT_EQ(found.batches, 2U);
  EXPECT_EQ(found.links, 1U);
  EXPECT_EQ(found.max_gpus, 8) << "twice what was measured";
  EXPECT_TRUE(found.missing.empty());
  const auto four = found.analysed->at(4);
  ASSERT_TRUE(four);
  EXPECT_EQ(four->batch, 512) << "the larger, the faster";
  EXPECT_NEAR(four->seconds, pass_of(64) * 2 + ring_of(params, 4), 0.02) << "two passes of 64";
  EXPECT_GT(found.analysed->scaling(4), 2);
  EXPECT_LE(found.analysed->scaling(4), 4 * 1.01);
  for (int gpus = 1; gpus <= 8; ++gpus)
    EXPECT_LE(found.analysed->effective(gpus).gpus, gpus) << "never more than granted";
}

TEST(BatchScaling, AReportedSynchronisationTellsBothTables) {
  MeasuredRow told = row(kOne, 50e6, 2, 64);
  told.sync = ring_of(50e6, 2);
  const BatchScaling found = scaling({told}, {64, 64});
  ASSERT_TRUE(found.analysed);
  EXPECT_EQ(found.links, 1U);
  ASSERT_TRUE(found.analysed->at(2));
  EXPECT_NEAR(found.analysed->at(2)->seconds, told.seconds(), 1e-9) << "as it was measured";
}

TEST(BatchScaling, OtherJobsMeasureTheInterconnectToo) {
  const std::map<std::string, ModelShape> shapes{{kOne.job_type, {.params = 100'000'000}},
                                                 {kOther.job_type, {.params = 25'000'000}}};
  const std::vector<MeasuredRow> rows{row(kOne, 100e6, 1, 16), row(kOne, 100e6, 1, 64),
                                      row(kOther, 25e6, 1, 32), row(kOther, 25e6, 4, 128)};
  const BatchScaling found = scaling(rows, {64, 256}, shapes);
  ASSERT_TRUE(found.analysed);
  EXPECT_EQ(found.links, 1U);
  const auto four = found.analysed->at(4);
  ASSERT_TRUE(four);
  EXPECT_NEAR(four->seconds, pass_of(64) + ring_of(100e6, 4), 0.05 * four->seconds)
      << "four times the bytes of the other job";
  EXPECT_EQ(scaling(rows, {64, 256}).links, 0U) << "without shapes bytes do not compare";
}

TEST(BatchScaling, SaysWhichReportsAreMissing) {
  EXPECT_FALSE(scaling({}, {1, 8}).analysed);
  EXPECT_EQ(scaling({}, {1, 8}).missing.size(), 1U);
  const BatchScaling many = scaling({row(kOne, 1e6, 4, 64)}, {64, 64});
  EXPECT_FALSE(many.analysed) << "what one GPU takes is not known";
  EXPECT_EQ(many.missing.size(), 1U);
  const BatchScaling one = scaling({row(kOne, 1e6, 1, 64)}, {64, 128});
  ASSERT_TRUE(one.analysed);
  EXPECT_EQ(one.max_gpus, 1);
  EXPECT_EQ(one.missing.size(), 2U) << "another batch, and several GPUs";
}

TEST(BatchScaling, WrongReportsGiveNothingWild) {
  std::vector<MeasuredRow> rows;
  for (const double throughput : {1e-300, 1e300, 1e15, 5.0}) {
    for (const int gpus : {1, 3, 7}) {
      MeasuredRow wrong = row(kOne, 1e6, gpus, 64);
      wrong.nodes = gpus;
      wrong.batch += gpus;
      wrong.throughput = throughput;
      wrong.sync = 1e9;
      rows.push_back(wrong);
    }
  }
  const BatchScaling found = scaling(rows, {1, 1'000'000});
  for (int gpus = 1; found.analysed && gpus <= found.max_gpus; ++gpus) {
    const auto best = found.analysed->at(gpus);
    if (!best) continue;
    EXPECT_TRUE(std::isfinite(best->seconds) && best->seconds > 0);
    EXPECT_TRUE(std::isfinite(found.analysed->scaling(gpus)));
  }
}

}  // namespace
}  // namespace rubato

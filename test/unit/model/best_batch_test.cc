// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/best_batch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lib/model/data_parallel/batch_tables.h"

namespace rubato {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BatchTable, IsLinearBetweenRowsAndFullBeyond) {
  const BatchTable table(std::vector<BatchTime>{{32, 0.4}, {8, 0.2}, {16, 0.25}});
  EXPECT_FALSE(table.repaired());
  EXPECT_DOUBLE_EQ(*table.seconds(8), 0.2);
  EXPECT_DOUBLE_EQ(*table.seconds(12), 0.225);
  EXPECT_DOUBLE_EQ(*table.seconds(24), 0.325);
  EXPECT_DOUBLE_EQ(*table.seconds(64), 0.8);
  EXPECT_DOUBLE_EQ(*table.seconds(4), 0.175);
}

TEST(BatchTable, OneRowKeepsHalfBelowIt) {
  const BatchTable table(std::vector<BatchTime>{{16, 0.2}, {16, 0.4}, {16, 0.25}});
  EXPECT_DOUBLE_EQ(*table.seconds(16), 0.25);
  EXPECT_DOUBLE_EQ(*table.seconds(8), 0.1875);
  EXPECT_DOUBLE_EQ(*table.seconds(32), 0.5);
}

TEST(BatchTable, LiftsTimesThatFallAndSaysSo) {
  const BatchTable table(std::vector<BatchTime>{{8, 0.3}, {16, 0.2}, {32, 0.5}});
  EXPECT_TRUE(table.repaired());
  EXPECT_DOUBLE_EQ(*table.seconds(16), 0.3);
  EXPECT_TRUE(BatchTable(std::vector<BatchTime>{{8, 0.3}, {0, 1}, {9, kNan}}).repaired());
}

TEST(BatchTable, SaysNothingWithoutRowsOrSense) {
  EXPECT_FALSE(BatchTable({}).seconds(8));
  const BatchTable table(std::vector<BatchTime>{{8, 0.3}});
  for (const double batch : {0.0, -1.0, kNan, 1e300}) EXPECT_FALSE(table.seconds(batch));
}

TEST(CommunicationTable, WithoutRowsIsTheRing) {
  const CommunicationTable table({}, {.bandwidth = 1e9, .latency = 1e-3});
  EXPECT_DOUBLE_EQ(*table.seconds(4e9, 4), 6 + 3e-3);
  EXPECT_DOUBLE_EQ(*table.seconds(4e9, 1), 0);
  EXPECT_FALSE(table.seconds(kNan, 4));
  EXPECT_FALSE(table.seconds(-1, 4));
  EXPECT_FALSE(table.seconds(1, 0));
}

TEST(CommunicationTable, MeasuredPointsStandAndTheRingGoesOn) {
  const RingModel ring{.bandwidth = 1e9, .latency = 0};
  const CommunicationTable table(
      std::vector<CommunicationTime>{{1e9, 2, 3}, {2e9, 2, 5}, {1e9, 4, 4}, {2e9, 4, 7}}, ring);
  EXPECT_DOUBLE_EQ(*table.seconds(1e9, 2), 3);
  EXPECT_DOUBLE_EQ(*table.seconds(1.5e9, 2), 4);
  EXPECT_DOUBLE_EQ(*table.seconds(1.5e9, 3), 4.75);
  EXPECT_DOUBLE_EQ(*table.seconds(0.5e9, 2), 1.5);
  EXPECT_DOUBLE_EQ(*table.seconds(3e9, 2), 6);               // a ring adds 1 s for 1e9 bytes
  EXPECT_DOUBLE_EQ(*table.seconds(1e9, 8), 4 + 1.75 - 1.5);  // 4 more devices add this much
  EXPECT_FALSE(table.repaired());
}

TEST(CommunicationTable, RefusesAWrongRing) {
  const CommunicationTable table({}, {.bandwidth = 0, .latency = -1});
  EXPECT_TRUE(table.repaired());
  EXPECT_GT(*table.seconds(1e9, 4), 0);
}

// A pass of 10 ms plus 1 ms per sample, and a fixed reduction.
IterationSeconds linear(double reduce) {
  return [=](double local_batch, int passes) {
    return passes * (0.01 + 0.001 * local_batch) + reduce;
  };
}

TEST(BestBatch, TakesTheLargestWhereAllSamplesCount) {
  const auto best = best_batch({.least = 32, .most = 512}, 4, linear(0.05));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->batch, 512);
  EXPECT_EQ(best->local, 128);
  EXPECT_EQ(best->passes, 1);
  EXPECT_NEAR(best->value, 512 / 0.188, 1e-6);
}

TEST(BestBatch, WithoutAccumulationWhatDoesNotFitIsImpossible) {
  const BatchRange fixed{.least = 256, .most = 256, .max_local = 50, .one_pass = true};
  EXPECT_FALSE(best_batch(fixed, 2, linear(0.05)));
  EXPECT_FALSE(best_batch(fixed, 5, linear(0.05)));
  const auto six = best_batch(fixed, 6, linear(0.05));
  ASSERT_TRUE(six);
  EXPECT_EQ(six->passes, 1);
  EXPECT_EQ(six->batch, 256);
  // The maximum batch that fits, without a second pass, however much that would save.
  const auto range =
      best_batch({.least = 32, .most = 256, .max_local = 50, .one_pass = true}, 2, linear(10));
  ASSERT_TRUE(range);
  EXPECT_EQ(range->passes, 1);
  EXPECT_EQ(range->batch, 100);
}

TEST(BestBatch, AccumulatesWhereMemoryEnds) {
  const auto best = best_batch({.least = 256, .most = 256, .max_local = 50}, 2, linear(0.05));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->batch, 256);
  EXPECT_EQ(best->passes, 3);
  EXPECT_EQ(best->local, 43);  // 256 over 6, rounded up
}

TEST(BestBatch, KeepsAFixedBatchThatDoesNotDivide) {
  const auto best = best_batch({.least = 100, .most = 100}, 3, linear(0.01));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->batch, 100);
  EXPECT_EQ(best->local, 34);
}

TEST(BestBatch, IsNoneWhereNothingIsPossible) {
  EXPECT_FALSE(best_batch({.least = 4, .most = 4}, 8, linear(0)));  // GPUs without a sample
  EXPECT_FALSE(best_batch({.least = 8, .most = 4}, 1, linear(0)));
  EXPECT_FALSE(best_batch({.least = 4, .most = 4}, 0, linear(0)));
  EXPECT_FALSE(best_batch({.least = 4, .most = 4}, 1, {}));
  EXPECT_FALSE(best_batch({.least = 4, .most = 8}, 1, [](double, int) { return kNan; }));
  EXPECT_FALSE(best_batch({.least = 8, .most = 8, .min_local = 16}, 1, linear(0)));
  EXPECT_FALSE(best_batch({.least = 8, .most = 8, .max_local = -1}, 1, linear(0)));
}

TEST(BestBatch, FindsAPeakBetweenGridPoints) {
  // With decreasing efficiency an inner batch is best; there are far more batches than are tried.
  const BatchWorth worth = [](double batch) { return 5000 / (5000 + batch); };
  const BatchRange range{.least = 1, .most = 1'000'000};
  const auto best = best_batch(range, 1, linear(0.5), worth);
  ASSERT_TRUE(best);
  double most = 0;
  for (int b = 1; b <= 1'000'000; ++b) {
    most = std::max(most, b / (0.51 + 0.001 * b) * (5000.0 / (5000 + b)));
  }
  EXPECT_NEAR(best->value, most, 1e-9 * most);
}

// Four categories of the note on elastic scaling, in small. With more GPUs a larger batch keeps the
// device busy, so a range scales where a fixed batch does not.
TEST(JobScalability, ARangeScalesWhereAFixedBatchDoesNot) {
  const BatchTable table(std::vector<BatchTime>{{16, 0.0228}, {64, 0.0612}});
  const CommunicationTable network({}, {.bandwidth = 1.5e9, .latency = 20e-6});
  const JobScalability range(table, network, 240e6, {.least = 16, .most = 256, .max_local = 128},
                             8);
  const JobScalability fixed(table, network, 240e6, {.least = 16, .most = 16, .max_local = 128}, 8);
  EXPECT_EQ(range.fewest(), 1);
  EXPECT_EQ(range.scaling(1), 1);
  EXPECT_GT(range.at(8)->value, 4 * fixed.at(8)->value);
  EXPECT_LT(fixed.scaling(8), 1);
  EXPECT_EQ(fixed.effective(8).gpus, 1);
  EXPECT_EQ(fixed.effective(8).scaling, 1);
  EXPECT_EQ(range.effective(8).scaling, range.scaling(range.effective(8).gpus));
  EXPECT_FALSE(range.at(9));
  EXPECT_EQ(range.scaling(0), 0);
  EXPECT_EQ(range.effective(100).gpus, range.effective(8).gpus);
}

TEST(JobScalability, ALargeFixedBatchNeedsItsMemory) {
  const BatchTable table(std::vector<BatchTime>{{16, 0.02}, {64, 0.06}});
  const JobScalability job(table, CommunicationTable({}), 1e8,
                           {.least = 300, .most = 300, .max_local = 64}, 8);
  EXPECT_EQ(job.fewest(), 1);
  EXPECT_EQ(job.at(1)->passes, 5);
  const JobScalability none(BatchTable({}), CommunicationTable({}), 1e8, {.least = 1, .most = 2},
                            4);
  EXPECT_EQ(none.fewest(), 0);
  EXPECT_EQ(none.scaling(2), 0);
  EXPECT_EQ(none.effective(4).gpus, 0);
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/summary.h"

#include <gtest/gtest.h>

#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using test::kNow;
using test::open_session;
using test::options_in;
using test::sample_of_job;

class SummaryTest : public testing::Test {
 protected:
  void write(const std::vector<Sample>& samples) {
    const auto session = open_session(options_in(folder_));
    std::vector<AnyRecord> entries(samples.begin(), samples.end());
    ASSERT_TRUE(session->write(entries));
  }
  static Sample sample(JobId job, int index, double factor = 1) {
    Sample sample = sample_of_job(job, index);
    sample.throughput *= factor;
    return sample;
  }

  test::TempFolder folder_;
  Summary summary_{folder_.database()};
};

TEST_F(SummaryTest, AddsUpWhatIsThere) {
  write({sample(1, 0, 0.98), sample(1, 1, 1.02), sample(2, 0)});
  EXPECT_EQ(summary_.refresh({}), true);
  const auto rows = summary_.rows();
  ASSERT_EQ(rows.size(), 1U);
  const Sample model = sample(1, 0);
  EXPECT_EQ(rows[0].account, model.type.account);
  EXPECT_EQ(rows[0].job_type, model.type.name);
  EXPECT_EQ(rows[0].gpu_type, model.gpu_type);
  EXPECT_EQ(rows[0].gpus, model.gpus);
  const JobTypeGroup& group = rows[0].group;
  EXPECT_EQ(group.samples, 3);
  EXPECT_EQ(group.flagged, 0);
  EXPECT_EQ(group.jobs, 2);
  EXPECT_DOUBLE_EQ(group.mean_throughput, model.throughput);
  EXPECT_DOUBLE_EQ(group.min_throughput, 0.98 * model.throughput);
  EXPECT_DOUBLE_EQ(group.max_throughput, 1.02 * model.throughput);
  EXPECT_EQ(group.last, std::max(sample(1, 1).time, sample(2, 0).time));
}

TEST_F(SummaryTest, FlaggedSamplesCountAndAreInNoRate) {
  Sample wild = sample(1, 1, 50);
  write({sample(1, 0), wild});
  ASSERT_EQ(summary_.refresh({}), true);
  const JobTypeGroup group = summary_.rows().at(0).group;
  EXPECT_EQ(group.samples, 2);
  EXPECT_EQ(group.flagged, 1);
  EXPECT_DOUBLE_EQ(group.mean_throughput, sample(1, 0).throughput);
  EXPECT_DOUBLE_EQ(group.last_throughput, sample(1, 0).throughput);
  EXPECT_EQ(group.last, wild.time);
}

TEST_F(SummaryTest, PlanBatchAndNodesAreApart) {
  Sample other = sample(2, 0);
  other.plan = "zero";
  Sample bigger = sample(3, 0);
  bigger.batch *= 2;
  write({sample(1, 0), other, bigger});
  ASSERT_EQ(summary_.refresh({}), true);
  EXPECT_EQ(summary_.rows().size(), 3U);
}

TEST_F(SummaryTest, NothingNewIsNotReadAgain) {
  write({sample(1, 0)});
  EXPECT_EQ(summary_.refresh({}), true);
  EXPECT_EQ(summary_.refresh({}), false);
  EXPECT_EQ(summary_.refresh({}, true), true);
}

// Adding samples one by one or all at once gives the same rows.
TEST_F(SummaryTest, BitByBitIsTheSameAsAtOnce) {
  for (int i = 0; i < 8; ++i) {
    Sample other = sample(100, i);
    other.gpu_type = "v100";
    Sample account = sample(200, i);
    account.type.account = "chemistry";
    write({sample(1, i), other, account});
    ASSERT_EQ(summary_.refresh({}), true);
  }
  Summary whole(folder_.database());
  ASSERT_EQ(whole.refresh({}), true);
  EXPECT_EQ(summary_.rows(), whole.rows());
  EXPECT_EQ(whole.rows().size(), 3U);
}

TEST_F(SummaryTest, AccountsThatShareAreOneRow) {
  Sample account = sample(2, 0);
  account.type.account = "chemistry";
  write({sample(1, 0), account});
  ASSERT_EQ(summary_.refresh({}), true);
  EXPECT_EQ(summary_.rows().size(), 2U);
  // A change of the configuration also applies to old samples.
  ASSERT_EQ(summary_.refresh({account.type.name}), true);
  ASSERT_EQ(summary_.rows().size(), 1U);
  EXPECT_EQ(summary_.rows()[0].account, "");
  EXPECT_TRUE(summary_.rows()[0].shared);
  EXPECT_EQ(summary_.rows()[0].group.samples, 2);
}

TEST_F(SummaryTest, ADatabaseBegunAnewIsSeen) {
  write({sample(1, 0), sample(1, 1)});
  ASSERT_EQ(summary_.refresh({}), true);
  for (const char* name : {"rubato.db", "rubato.db-wal", "rubato.db-shm"})
    (void)::remove((folder_.store() + "/" + name).c_str());
  Sample other = sample(9, 0);
  other.gpu_type = "v100";
  write({other});
  ASSERT_EQ(summary_.refresh({}), true);
  ASSERT_EQ(summary_.rows().size(), 1U);
  EXPECT_EQ(summary_.rows()[0].gpu_type, "v100");
}

TEST_F(SummaryTest, AMissingDatabaseIsAnError) {
  const auto fresh = summary_.refresh({});
  ASSERT_FALSE(fresh);
  EXPECT_NE(fresh.error().text.find("rubato.db"), std::string::npos);
  EXPECT_TRUE(summary_.rows().empty());
}

}  // namespace
}  // namespace rubato::store

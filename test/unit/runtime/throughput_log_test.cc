// SPDX-License-Identifier: GPL-2.0-or-later
// From reports and the store's sums to the observations of a fit.
#include "lib/runtime/throughput_log.h"

#include <gtest/gtest.h>

#include <stdlib.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>

#include "lib/store/folder.h"
#include "lib/store/store.h"

namespace rubato {
namespace {

constexpr Seconds kBegin = 1'800'000'000;

store::Sample sample(JobId job, double throughput, int index = 0) {
  store::Sample made;
  made.job = {job, kBegin};
  made.run_start = kBegin;
  made.time = kBegin + 60 * (index + 1);
  made.type = {"research", "resnet50", false};
  made.gpu_type = "a100";
  made.gpus = 4;
  made.nodes = 1;
  made.batch = 64;
  made.samples_done = static_cast<std::int64_t>(throughput * 60 * (index + 1));
  made.throughput = throughput;
  return made;
}

LearnerRules at_once() { return {.use = {.warm_up = 0}}; }

// A store with these samples in a temporary folder.
class Stored {
 public:
  explicit Stored(const std::vector<store::Sample>& samples) {
    std::string name = ::testing::TempDir() + "/bookXXXXXX";
    folder_ = mkdtemp(name.data());
    store::StoreOptions options;
    options.folder = (folder_ / "rubato").string();
    store::Store store(options, std::make_shared<SystemClock>());
    for (const store::Sample& one : samples) EXPECT_TRUE(store.push(one));
    EXPECT_TRUE(store.flush(std::chrono::seconds(60)));
    EXPECT_TRUE(store.stop(std::chrono::seconds(60)));
  }
  ~Stored() { std::filesystem::remove_all(folder_); }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;

  void restore(ThroughputLog& throughput_log, const std::set<std::string>& shared = {}) const {
    const auto reader = store::Reader::open((folder_ / "rubato" / store::kDatabaseName).string());
    ASSERT_TRUE(reader) << reader.error().text;
    ASSERT_TRUE(throughput_log.restore(*reader, shared));
  }

 private:
  std::filesystem::path folder_;
};

TEST(ThroughputLog, a_report_is_a_cell_at_once) {
  ThroughputLog throughput_log(at_once());
  throughput_log.add_sample({sample(1, 100), 7});
  const auto observations = throughput_log.observations();
  ASSERT_EQ(observations.size(), 1U);
  EXPECT_EQ(observations[0].profile, (ProfileName{"research", "resnet50"}));
  EXPECT_EQ(observations[0].gpu_type, "a100");
  EXPECT_EQ(observations[0].gpus, 4);
  EXPECT_DOUBLE_EQ(observations[0].throughput, 100);
  EXPECT_EQ(observations[0].samples, 1);
}

TEST(ThroughputLog, what_the_store_has_counts_once) {
  ThroughputLog throughput_log(at_once());
  throughput_log.add_sample({sample(1, 100, 0), 7});
  throughput_log.add_sample({sample(1, 100, 1), 9});
  throughput_log.mark_stored(8);
  Stored({sample(1, 100, 0)}).restore(throughput_log);
  ASSERT_EQ(throughput_log.observations().size(), 1U);
  EXPECT_EQ(throughput_log.observations()[0].samples, 2) << "one stored, one still on its way";
  Stored({sample(1, 100, 0), sample(1, 100, 1)}).restore(throughput_log);
  EXPECT_EQ(throughput_log.observations()[0].samples, 2)
      << "arrived, though nobody has said so yet";
  throughput_log.mark_stored(9);
  Stored({sample(1, 100, 0), sample(1, 100, 1)}).restore(throughput_log);
  EXPECT_EQ(throughput_log.observations()[0].samples, 2);
}

TEST(ThroughputLog, what_the_store_did_not_take_stays_and_what_it_forgot_goes) {
  ThroughputLog throughput_log(at_once());
  throughput_log.add_sample({sample(1, 100), 0});
  throughput_log.mark_stored(1000);
  Stored({sample(2, 130)}).restore(throughput_log);
  ASSERT_EQ(throughput_log.observations().size(), 1U);
  EXPECT_EQ(throughput_log.observations()[0].samples, 2);
  EXPECT_NEAR(throughput_log.observations()[0].throughput, std::sqrt(13000), 1e-9)
      << "the mean of the logarithms";
  Stored({}).restore(throughput_log);
  EXPECT_EQ(throughput_log.observations()[0].samples, 1);
}

TEST(ThroughputLog, a_job_that_warms_up_gives_way_to_others_also_when_it_is_read_back) {
  ThroughputLog throughput_log;
  throughput_log.add_sample({sample(1, 100, 0), 1});
  ASSERT_EQ(throughput_log.observations().size(), 1U);
  EXPECT_LT(throughput_log.observations()[0].weight, 0.6) << "all that is known, and unsure";
  throughput_log.add_sample({sample(1, 100, 1), 2});
  ASSERT_EQ(throughput_log.observations().size(), 1U);
  EXPECT_EQ(throughput_log.observations()[0].samples, 1);
  EXPECT_GT(throughput_log.observations()[0].weight, 0.9);
  throughput_log.mark_stored(2);
  Stored({sample(1, 100, 0), sample(1, 100, 1)}).restore(throughput_log);
  EXPECT_EQ(throughput_log.observations()[0].samples, 1);
}

TEST(ThroughputLog, implausible_reports_count_nowhere) {
  ThroughputLog throughput_log(at_once());
  throughput_log.add_sample({sample(1, 100, 0), 0});
  store::Sample boast = sample(1, 100, 1);
  boast.throughput = 1000;  // contradicts the samples done
  throughput_log.add_sample({boast, 0});
  ASSERT_EQ(throughput_log.observations().size(), 1U);
  EXPECT_EQ(throughput_log.observations()[0].samples, 1);
  EXPECT_DOUBLE_EQ(throughput_log.observations()[0].throughput, 100);
}

TEST(ThroughputLog, a_shared_profile_has_no_account) {
  ThroughputLog throughput_log(at_once());
  store::Sample other = sample(2, 100);
  other.type.account = "sales";
  Stored({sample(1, 100), other}).restore(throughput_log, {"resnet50"});
  store::Sample report = sample(3, 100);
  report.type.shared = true;
  throughput_log.add_sample({report, 3});
  const auto observations = throughput_log.observations();
  ASSERT_EQ(observations.size(), 1U);
  EXPECT_EQ(observations[0].profile.account, "");
  EXPECT_EQ(observations[0].samples, 3);
}

TEST(ThroughputLog, batches_are_cells_of_their_own) {
  ThroughputLog throughput_log(at_once());
  store::Sample other = sample(2, 150);
  other.batch = 128;
  throughput_log.add_sample({sample(1, 100), 0});
  throughput_log.add_sample({other, 0});
  ASSERT_EQ(throughput_log.observations().size(), 2U);
  EXPECT_EQ(throughput_log.observations()[0].batch, 64);
  EXPECT_EQ(throughput_log.observations()[1].batch, 128);
}

TEST(ThroughputLog, rows_of_other_sites_are_one_report) {
  ThroughputLog throughput_log(at_once());
  store::SummaryRow row{"research", "resnet50", false, "v100", 4, {}};
  row.group.samples = 50;
  row.group.mean_throughput = 80;
  throughput_log.set_imported({row});
  EXPECT_TRUE(throughput_log.observations().empty()) << "our own are in the samples";
  row.group.imported = true;
  throughput_log.set_imported({row});
  ASSERT_EQ(throughput_log.observations().size(), 1U);
  EXPECT_EQ(throughput_log.observations()[0].weight, 1);
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Reports and the store's sums -> the cells of a fit.
#include "lib/runtime/rate_book.h"

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

store::Sample sample(JobId job, double rate, int index = 0) {
  store::Sample made;
  made.job = {job, kBegin};
  made.run_start = kBegin;
  made.time = kBegin + 60 * (index + 1);
  made.type = {"research", "resnet50", false};
  made.gpu_type = "a100";
  made.gpus = 4;
  made.nodes = 1;
  made.batch = 64;
  made.samples_done = static_cast<std::int64_t>(rate * 60 * (index + 1));
  made.rate = rate;
  return made;
}

LearnerRules at_once() { return {.use = {.warm_up = 0}}; }

// A store with these samples, in a folder that goes with it.
class Stored {
 public:
  explicit Stored(const std::vector<store::Sample>& samples) {
    std::string name = ::testing::TempDir() + "/bookXXXXXX";
    folder_ = mkdtemp(name.data());
    store::StoreOptions options;
    options.folder = (folder_ / "rubato").string();
    store::Store store(options, std::make_shared<store::SystemClock>());
    for (const store::Sample& one : samples) EXPECT_TRUE(store.push(one));
    EXPECT_TRUE(store.flush(std::chrono::seconds(60)));
    EXPECT_TRUE(store.stop(std::chrono::seconds(60)));
  }
  ~Stored() { std::filesystem::remove_all(folder_); }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;

  void restore(RateBook& book, const std::set<std::string>& shared = {}) const {
    const auto reader = store::Reader::open((folder_ / "rubato" / store::kDatabaseName).string());
    ASSERT_TRUE(reader) << reader.error().text;
    ASSERT_TRUE(book.restore(*reader, shared));
  }

 private:
  std::filesystem::path folder_;
};

TEST(RateBook, a_report_is_a_cell_at_once) {
  RateBook book(at_once());
  book.hear({sample(1, 100), 7});
  const auto cells = book.cells();
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].profile, (ProfileName{"research", "resnet50"}));
  EXPECT_EQ(cells[0].gpu_type, "a100");
  EXPECT_EQ(cells[0].gpus, 4);
  EXPECT_DOUBLE_EQ(cells[0].rate, 100);
  EXPECT_EQ(cells[0].samples, 1);
}

TEST(RateBook, what_the_store_has_counts_once) {
  RateBook book(at_once());
  book.hear({sample(1, 100, 0), 7});
  book.hear({sample(1, 100, 1), 9});
  book.settle(8);
  Stored({sample(1, 100, 0)}).restore(book);
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 2) << "one stored, one still on its way";
  Stored({sample(1, 100, 0), sample(1, 100, 1)}).restore(book);
  EXPECT_EQ(book.cells()[0].samples, 2) << "arrived, though nobody has said so yet";
  book.settle(9);
  Stored({sample(1, 100, 0), sample(1, 100, 1)}).restore(book);
  EXPECT_EQ(book.cells()[0].samples, 2);
}

TEST(RateBook, what_the_store_did_not_take_stays_and_what_it_forgot_goes) {
  RateBook book(at_once());
  book.hear({sample(1, 100), 0});
  book.settle(1000);
  Stored({sample(2, 130)}).restore(book);
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 2);
  EXPECT_NEAR(book.cells()[0].rate, std::sqrt(13000), 1e-9) << "the mean of the logarithms";
  Stored({}).restore(book);
  EXPECT_EQ(book.cells()[0].samples, 1);
}

TEST(RateBook, a_job_that_warms_up_gives_way_to_others_also_when_it_is_read_back) {
  RateBook book;
  book.hear({sample(1, 100, 0), 1});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_LT(book.cells()[0].weight, 0.6) << "all that is known, and unsure";
  book.hear({sample(1, 100, 1), 2});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 1);
  EXPECT_GT(book.cells()[0].weight, 0.9);
  book.settle(2);
  Stored({sample(1, 100, 0), sample(1, 100, 1)}).restore(book);
  EXPECT_EQ(book.cells()[0].samples, 1);
}

TEST(RateBook, implausible_reports_count_nowhere) {
  RateBook book(at_once());
  book.hear({sample(1, 100, 0), 0});
  store::Sample boast = sample(1, 100, 1);
  boast.rate = 1000;  // the samples done do not give it
  book.hear({boast, 0});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 1);
  EXPECT_DOUBLE_EQ(book.cells()[0].rate, 100);
}

TEST(RateBook, a_shared_profile_has_no_account) {
  RateBook book(at_once());
  store::Sample other = sample(2, 100);
  other.type.account = "sales";
  Stored({sample(1, 100), other}).restore(book, {"resnet50"});
  store::Sample report = sample(3, 100);
  report.type.shared = true;
  book.hear({report, 3});
  const auto cells = book.cells();
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].profile.account, "");
  EXPECT_EQ(cells[0].samples, 3);
}

TEST(RateBook, batches_are_cells_of_their_own) {
  RateBook book(at_once());
  store::Sample other = sample(2, 150);
  other.batch = 128;
  book.hear({sample(1, 100), 0});
  book.hear({other, 0});
  ASSERT_EQ(book.cells().size(), 2U);
  EXPECT_EQ(book.cells()[0].batch, 64);
  EXPECT_EQ(book.cells()[1].batch, 128);
}

TEST(RateBook, rows_of_other_sites_are_one_report) {
  RateBook book(at_once());
  store::SummaryRow row{"research", "resnet50", false, "v100", 4, {}};
  row.group.samples = 50;
  row.group.mean_rate = 80;
  book.set_imported({row});
  EXPECT_TRUE(book.cells().empty()) << "our own are in the samples";
  row.group.imported = true;
  book.set_imported({row});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].weight, 1);
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Reports and the store's sums -> the cells of a fit.
#include "plugin/sched/rate_book.h"

#include <gtest/gtest.h>

#include <cmath>

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

store::SummaryRow row(std::int64_t samples, double rate, std::int64_t flagged = 0) {
  store::SummaryRow made{"research", "resnet50", false, "a100", 4, {}};
  made.group.samples = samples;
  made.group.flagged = flagged;
  made.group.mean_rate = rate;
  return made;
}

TEST(RateBook, a_report_is_a_cell_at_once) {
  RateBook book;
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
  RateBook book;
  book.hear({sample(1, 100, 0), 7});
  book.hear({sample(1, 100, 1), 9});
  book.settle(8);
  book.summarised({row(1, 100)});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 2) << "one summed up, one still on its way";
  book.settle(9);
  book.summarised({row(2, 100)});
  EXPECT_EQ(book.cells()[0].samples, 2);
}

TEST(RateBook, what_the_store_did_not_take_stays) {
  RateBook book;
  book.hear({sample(1, 100), 0});
  book.settle(1000);
  book.summarised({row(1, 400)});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 2);
  EXPECT_NEAR(book.cells()[0].rate, 200, 1e-9) << "the mean of the logarithms";
}

TEST(RateBook, implausible_reports_count_nowhere) {
  RateBook book;
  book.hear({sample(1, 100, 0), 0});
  store::Sample boast = sample(1, 100, 1);
  boast.rate = 1000;  // the samples done do not give it
  book.hear({boast, 0});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 1);
  EXPECT_DOUBLE_EQ(book.cells()[0].rate, 100);
}

TEST(RateBook, flagged_and_untyped_rows_are_left_out) {
  RateBook book;
  store::SummaryRow untyped = row(5, 10);
  untyped.job_type.clear();
  book.summarised({untyped, row(3, 0, 3)});
  EXPECT_TRUE(book.cells().empty());
  book.summarised({row(5, 80, 3)});
  ASSERT_EQ(book.cells().size(), 1U);
  EXPECT_EQ(book.cells()[0].samples, 2);
}

TEST(RateBook, groups_of_a_place_are_joined_and_a_shared_profile_has_no_account) {
  RateBook book;
  store::SummaryRow shared = row(3, 100);
  shared.account = "";
  shared.shared = true;
  store::SummaryRow other_batch = shared;
  other_batch.group.batch = 128;
  other_batch.group.samples = 1;
  book.summarised({shared, other_batch});
  store::Sample report = sample(1, 100);
  report.type.shared = true;
  book.hear({report, 3});
  const auto cells = book.cells();
  ASSERT_EQ(cells.size(), 1U);
  EXPECT_EQ(cells[0].profile.account, "");
  EXPECT_EQ(cells[0].samples, 5);
}

TEST(RateBook, places_without_a_store_are_bounded) {
  RateBook book;
  for (std::size_t i = 0; i < RateBook::kMostPlaces + 50; ++i) {
    store::Sample report = sample(static_cast<JobId>(i + 1), 100);
    report.type.name = "type" + std::to_string(i);
    book.hear({report, 0});
    if (i > 0) continue;
    report.job.id = 1'000'000;  // the first place has two reports, all others one
    book.hear({report, 0});
  }
  const auto cells = book.cells();
  EXPECT_EQ(cells.size(), RateBook::kMostPlaces);
  EXPECT_TRUE(std::any_of(cells.begin(), cells.end(), [](const RateCell& cell) {
    return cell.profile.job_type == "type0";
  })) << "the place with most reports stays";
}

TEST(RateChange, says_what_is_worth_a_fit) {
  RateBook book;
  book.hear({sample(1, 100), 0});
  const auto before = book.cells();
  auto now = before;
  EXPECT_EQ(rate_change(before, now), RateChange::kSame);
  now[0].rate = 100.5;
  EXPECT_EQ(rate_change(before, now), RateChange::kSame);
  now[0].rate = 102;
  EXPECT_EQ(rate_change(before, now), RateChange::kSome);
  now[0].rate = 90;
  EXPECT_EQ(rate_change(before, now), RateChange::kDecides);
  now = before;
  now[0].samples = 2;
  EXPECT_EQ(rate_change(before, now), RateChange::kSome);
  now = before;
  now[0].gpus = 5;
  EXPECT_EQ(rate_change(before, now), RateChange::kDecides);
  EXPECT_EQ(rate_change(before, {}), RateChange::kDecides);
}

}  // namespace
}  // namespace rubato

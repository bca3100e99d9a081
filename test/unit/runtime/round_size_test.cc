// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/round_size.h"

#include <gtest/gtest.h>

#include <vector>

#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

constexpr double kDeadline = 2000;  // ms

// Pending jobs in Slurm's order; their ranks run against the order of the vector.
Snapshot queue_of(int jobs) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  for (int i = 0; i < jobs; ++i) add_pending(snapshot, 1).rank = jobs - 1 - i;
  return snapshot;
}

std::vector<int> ranks_left_out(const Snapshot& snapshot) {
  std::vector<int> ranks;
  for (const Job& job : snapshot.jobs)
    if (job.block == Block::kLeftOut) ranks.push_back(job.rank);
  return ranks;
}

TEST(RoundSize, IsEveryJobWhileRoundsAreInTime) {
  RoundSize size;
  size.ended(20000, 20000, kDeadline, kDeadline);
  EXPECT_EQ(size.limit(), RoundSize::kAll);
}

TEST(RoundSize, HalvesWhenARoundIsLate) {
  RoundSize size;
  size.ended(20000, 20000, kDeadline + 1, kDeadline);
  EXPECT_EQ(size.limit(), 9995U);
  size.ended(9995, 20000, kDeadline * 1.001, kDeadline);
  EXPECT_EQ(size.limit(), 4992U);
}

TEST(RoundSize, FallsInProportionWhenARoundIsVeryLate) {
  RoundSize size;
  size.ended(20000, 20000, 10 * kDeadline, kDeadline);
  EXPECT_EQ(size.limit(), 1000U);
}

TEST(RoundSize, NeverFallsToNothing) {
  RoundSize size;
  for (int i = 0; i < 10; ++i) size.ended(20, 20000, 100 * kDeadline, kDeadline);
  EXPECT_EQ(size.limit(), RoundSize::kLeast);
}

TEST(RoundSize, GrowsBackWithTimeToSpare) {
  RoundSize size;
  size.ended(20000, 20000, 2 * kDeadline, kDeadline);
  ASSERT_EQ(size.limit(), 5000U);
  size.ended(5000, 20000, kDeadline / 2, kDeadline);
  EXPECT_EQ(size.limit(), 5000U) << "in time, with nothing to spare";
  size.ended(5000, 20000, kDeadline / 5, kDeadline);
  EXPECT_EQ(size.limit(), 10000U);
  size.ended(8000, 8000, kDeadline / 5, kDeadline);
  EXPECT_EQ(size.limit(), RoundSize::kAll) << "all that wait were considered";
}

TEST(LeaveOut, KeepsTheHeadOfSlurmsOrder) {
  Snapshot snapshot = queue_of(5);
  EXPECT_EQ(leave_out(snapshot, RoundSize::kAll), 5U);
  EXPECT_EQ(leave_out(snapshot, 3), 3U);
  EXPECT_EQ(ranks_left_out(snapshot), (std::vector<int>{4, 3}));
}

TEST(LeaveOut, KeepsJobsWithAReservation) {
  Snapshot snapshot = queue_of(5);
  Reservation reservation;
  reservation.job = snapshot.jobs.front().key;  // the last in order
  snapshot.memory.reservations = {reservation};
  EXPECT_EQ(leave_out(snapshot, 3), 4U);
  EXPECT_EQ(ranks_left_out(snapshot), std::vector<int>{3});
}

TEST(LeaveOut, DoesNotCountJobsThatSlurmBlocks) {
  Snapshot snapshot = queue_of(5);
  snapshot.jobs.back().block = Block::kLimit;  // the first in order
  EXPECT_EQ(leave_out(snapshot, 3), 3U);
  EXPECT_EQ(ranks_left_out(snapshot), std::vector<int>{4});
  EXPECT_EQ(snapshot.jobs.back().block, Block::kLimit);
}

}  // namespace
}  // namespace rubato::test

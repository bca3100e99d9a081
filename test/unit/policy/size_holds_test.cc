// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs whose size somebody holds.
#include "lib/policy/algorithms/size_holds.h"

#include <gtest/gtest.h>

#include "lib/policy/algorithms/change_bounds.h"
#include "lib/policy/algorithms/lineage.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::kNow;
using test::make_cluster;

constexpr JobKey kJob{7, kNow - 100};

Memory held(std::optional<std::int64_t> seconds = std::nullopt) {
  Memory memory;
  fold_hold(kJob, 1000, {.on = true, .seconds = seconds}, kNow, memory);
  return memory;
}

TEST(SizeHolds, LastUntilTheyAreReleased) {
  Memory memory = held();
  ASSERT_NE(hold_of(memory, kJob, kNow + 1'000'000), nullptr);
  EXPECT_EQ(hold_of(memory, kJob, kNow)->uid, 1000U);
  EXPECT_EQ(hold_of(memory, {kJob.id, kNow}, kNow), nullptr);
  fold_hold(kJob, 0, {.on = false, .seconds = {}}, kNow + 1, memory);
  EXPECT_EQ(hold_of(memory, kJob, kNow + 1), nullptr);
}

TEST(SizeHolds, OrForTheTimeThatWasAskedFor) {
  Memory memory = held(60);
  EXPECT_NE(hold_of(memory, kJob, kNow + 59), nullptr);
  EXPECT_EQ(hold_of(memory, kJob, kNow + 60), nullptr);
  EXPECT_TRUE(kept_holds(memory, {kJob}, kNow + 60).empty());
  fold_hold(kJob, 0, {.on = true, .seconds = {}}, kNow, memory);
  ASSERT_EQ(memory.size_holds.size(), 1U);
  EXPECT_NE(hold_of(memory, kJob, kNow + 60), nullptr);
}

TEST(SizeHolds, EndWithTheJob) {
  EXPECT_EQ(kept_holds(held(), {kJob}, kNow).size(), 1U);
  EXPECT_TRUE(kept_holds(held(), {}, kNow).empty());
}

TEST(SizeHolds, LastOverARequeue) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  snapshot.memory = held();
  Job& job = test::add_pending(snapshot, 8);
  job.key = {kJob.id, kNow};
  job.restarts = 1;
  const auto memory = follow_requeues(snapshot);
  ASSERT_TRUE(memory);
  EXPECT_NE(hold_of(*memory, job.key, kNow), nullptr);
}

TEST(SizeHolds, ForbidEveryChangeOfTheRound) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job& job = test::add_consenting(snapshot);
  Config config = test::managing_all(Mode::kElastic);
  config.min_run_time = 0;
  const Models models;
  EXPECT_FALSE(change_bound({snapshot, models, config, kNow}, job));
  fold_hold(job.key, 0, {.on = true, .seconds = 60}, kNow, snapshot.memory);
  const ChangeBound wanted{StayReason::kHeld, "hold-size", kNow + 60};
  EXPECT_EQ(change_bound({snapshot, models, config, kNow}, job), wanted);
}

}  // namespace
}  // namespace rubato

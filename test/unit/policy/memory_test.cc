// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/memory.h"

#include <gtest/gtest.h>

#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

JobKey key_of(JobId id) {
  JobKey key;
  key.id = id;
  return key;
}

JobMemory remembered(JobId id) {
  JobMemory memory;
  memory.job = key_of(id);
  memory.first_seen = kNow - 100;
  return memory;
}

TEST(FoldRefusals, CountsEachRefusalOfAStart) {
  Memory memory;
  memory.jobs = {remembered(1), remembered(2)};
  memory.jobs[1].refusals = 2;
  const Memory after = fold_refusals(memory, {{key_of(2), "no licence"}}, kNow);
  EXPECT_EQ(after.jobs[0], memory.jobs[0]);
  EXPECT_EQ(after.jobs[1].refusals, 3);
  EXPECT_EQ(after.jobs[1].last_try, kNow);
  EXPECT_EQ(after.jobs[1].refusal, "no licence");
  EXPECT_EQ(after.jobs[1].first_seen, kNow - 100);
}

TEST(FoldRefusals, AddsARecordInKeyOrderWhenTheJobHasNone) {
  Memory memory;
  memory.jobs = {remembered(1), remembered(3)};
  const Memory after = fold_refusals(memory, {{key_of(2), "busy"}}, kNow);
  ASSERT_EQ(after.jobs.size(), 3U);
  EXPECT_EQ(after.jobs[1].job, key_of(2));
  EXPECT_EQ(after.jobs[1].first_seen, kNow);
  EXPECT_EQ(after.jobs[1].refusals, 1);
}

TEST(FoldRefusals, ChangesNothingWithoutRefusals) {
  Memory memory;
  memory.jobs = {remembered(1)};
  EXPECT_EQ(fold_refusals(memory, {}, kNow), memory);
}

}  // namespace
}  // namespace rubato::test

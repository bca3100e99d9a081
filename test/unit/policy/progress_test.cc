// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/json/json.h"
#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

Snapshot with_progress() {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 600);
  snapshot.memory.progress = {{.job = {7, 1}, .samples = 9, .loss = {}},
                              {.job = snapshot.jobs[0].key,
                               .restarts = 2,
                               .time = kNow - 5,
                               .samples = 123'456'789'012,
                               .throughput = 810.25,
                               .batch = 512,
                               .loss = -0.125}};
  return snapshot;
}

TEST(Progress, round_keeps_it_for_jobs_that_are_there) {
  const Snapshot snapshot = with_progress();
  const Plan plan = round(snapshot, Models(), Config(), kNow);
  ASSERT_EQ(plan.memory.progress.size(), 1U);
  EXPECT_EQ(plan.memory.progress[0], snapshot.memory.progress[1]);
}

TEST(Progress, survives_in_the_state_file) {
  const Snapshot snapshot = with_progress();
  const auto back = memory_from_json(to_json(snapshot.memory, snapshot), snapshot);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(*back, snapshot.memory);
}

TEST(Progress, a_state_file_without_it_is_read_as_before) {
  const auto memory = memory_from_json(R"({"schema":"rubato.state/1","round":7})", Snapshot());
  ASSERT_TRUE(memory) << memory.error().text;
  EXPECT_EQ(memory->round, 7U);
  EXPECT_TRUE(memory->progress.empty());
}

TEST(Progress, must_be_sorted) {
  const auto memory =
      memory_from_json(R"({"schema":"rubato.state/1","progress":[{"id":2},{"id":1}]})", Snapshot());
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().text, "progress: must be sorted by id and submit, each once");
}

}  // namespace
}  // namespace rubato::test

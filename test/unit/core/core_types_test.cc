// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "lib/base/text.h"
#include "lib/core/plan.h"
#include "lib/model/models.h"

namespace rubato {
namespace {

TEST(Units, sums_saturate_at_forever) {
  EXPECT_EQ(add_seconds(3, 4), 7);
  EXPECT_EQ(add_seconds(kForever, 1), kForever);
  EXPECT_EQ(add_seconds(1, kForever), kForever);
  EXPECT_EQ(add_seconds(kForever, kForever), kForever);
  EXPECT_EQ(add_seconds(kForever - 2, 1), kForever - 1);
  EXPECT_EQ(add_seconds(kForever - 1, 1), kForever);
}

TEST(Words, every_enumerator_has_a_word_that_gives_it_back) {
  for (int i = 0; i <= static_cast<int>(Verdict::kStock); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    EXPECT_EQ(verdict_from(to_string(verdict)), verdict);
  }
  for (int i = 0; i <= static_cast<int>(Block::kLeftOut); ++i) {
    const auto block = static_cast<Block>(i);
    EXPECT_EQ(block_from(to_string(block)), block);
  }
  for (int i = 0; i <= static_cast<int>(ReserveReason::kStarvation); ++i) {
    const auto reason = static_cast<ReserveReason>(i);
    EXPECT_EQ(reserve_reason_from(to_string(reason)), reason);
  }
  for (int i = 0; i <= static_cast<int>(ResizeStep::kFailed); ++i) {
    const auto step = static_cast<ResizeStep>(i);
    EXPECT_EQ(resize_step_from(to_string(step)), step);
  }
  EXPECT_EQ(job_state_from("pending"), JobState::kPending);
  EXPECT_EQ(job_state_from("running"), JobState::kRunning);
  EXPECT_FALSE(verdict_from("unknown"));
  EXPECT_FALSE(block_from(""));
  EXPECT_STREQ(to_string(static_cast<Verdict>(99)), "unknown");
}

TEST(Node, counts_gpus_of_all_types) {
  Node node;
  EXPECT_EQ(node.gpus_total(), 0);
  node.gpus = {{"a100", 4, 1}, {"h100", 8, 5}};
  EXPECT_EQ(node.gpus_total(), 12);
  EXPECT_EQ(node.gpus_free(), 6);
  EXPECT_EQ((NodeShare{0, 1, 0, {{"a100", 2}, {"h100", 3}}}.gpu_count()), 5);
}

TEST(Text, durations_are_written_as_slurm_writes_them) {
  EXPECT_EQ(duration_text(0), "00:00:00");
  EXPECT_EQ(duration_text(-5), "00:00:00");
  EXPECT_EQ(duration_text(3661), "01:01:01");
  EXPECT_EQ(duration_text(86399), "23:59:59");
  EXPECT_EQ(duration_text(2 * 86400 + 60), "2-00:01:00");
  EXPECT_EQ(duration_text(kForever), "unlimited");
}

TEST(Text, long_lists_are_cut) {
  EXPECT_EQ(list_text({}, 2), "");
  EXPECT_EQ(list_text({"n1"}, 2), "n1");
  EXPECT_EQ(list_text({"n1", "n2"}, 2), "n1,n2");
  EXPECT_EQ(list_text({"n1", "n2", "n3", "n4"}, 2), "n1,n2 and 2 more");
}

TEST(Models, a_type_without_a_line_has_speed_one) {
  const Models models({{"h100", 2.5}});
  EXPECT_EQ(models.speed("h100"), 2.5);
  EXPECT_EQ(models.speed("a100"), 1.0);
  EXPECT_EQ(Models().speed(""), 1.0);
}

}  // namespace
}  // namespace rubato

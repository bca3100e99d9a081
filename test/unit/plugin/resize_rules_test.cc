// SPDX-License-Identifier: GPL-2.0-or-later
// Which running jobs can give back which nodes, and which can get more.
#include "plugin/slurm/write/resize_rules.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

// A batch job on three nodes, with its script on the first.
ResizeFacts on_three_nodes() {
  ResizeFacts facts;
  facts.running = true;
  facts.nodes = facts.core_nodes = {2, 5, 7};
  facts.batch_host = 2;
  return facts;
}

TEST(ShrinkRules, MiddleNodeCanGo) { EXPECT_EQ(why_not_shrink(on_three_nodes(), {2, 7}), ""); }

TEST(ShrinkRules, JobWithoutScriptCanLoseItsFirstNode) {
  ResizeFacts facts = on_three_nodes();
  EXPECT_EQ(why_not_shrink(facts, {5, 7}), "it must keep the node of its batch script");
  facts.batch_host = -1;
  EXPECT_EQ(why_not_shrink(facts, {5, 7}), "");
}

TEST(ShrinkRules, KeepsAProperSubset) {
  EXPECT_EQ(why_not_shrink(on_three_nodes(), {}), "it must keep a node");
  EXPECT_EQ(why_not_shrink(on_three_nodes(), {2, 5, 7}), "it would keep all of its nodes");
  EXPECT_EQ(why_not_shrink(on_three_nodes(), {2, 3}), "a node to keep is not one of its nodes");
}

TEST(ShrinkRules, RefusesRecordsThatContradictEachOther) {
  ResizeFacts facts = on_three_nodes();
  facts.core_nodes = {2, 5};
  EXPECT_EQ(why_not_shrink(facts, {2, 5}), "its records name different nodes");
}

TEST(ShrinkRules, NamesEachState) {
  const std::vector<std::pair<bool ResizeFacts::*, const char*>> states = {
      {&ResizeFacts::completing, "it is completing"},
      {&ResizeFacts::suspended, "it is suspended"},
      {&ResizeFacts::configuring, "its nodes are not ready yet"},
      {&ResizeFacts::resizing, "it is being resized"},
      {&ResizeFacts::being_expanded, "another job expands it"},
      {&ResizeFacts::saving, "slurmdbd has not stored its last resize yet"},
      {&ResizeFacts::het, "it is part of a heterogeneous job"},
      {&ResizeFacts::cron, "it is a job of scrontab"},
      {&ResizeFacts::stepmgr, "its steps are managed by slurmstepd (--stepmgr)"},
      {&ResizeFacts::arbitrary, "it has an arbitrary task distribution"},
      {&ResizeFacts::shared_gpus, "it holds shards or MPS"},
  };
  for (const auto& [state, why] : states) {
    ResizeFacts facts = on_three_nodes();
    facts.*state = true;
    EXPECT_EQ(why_not_shrink(facts, {2, 7}), why);
  }
}

TEST(ShrinkRules, RefusesWhatDoesNotRunAndWhatSlurmForbids) {
  ResizeFacts facts = on_three_nodes();
  facts.running = false;
  EXPECT_EQ(why_not_shrink(facts, {2, 7}), "it does not run");
  facts = on_three_nodes();
  facts.shrink_allowed = false;
  EXPECT_EQ(why_not_shrink(facts, {2, 7}), "SchedulerParameters has disable_job_shrink");
}

// For Slurm a suspended job does not run; the reason must be the suspension.
TEST(ShrinkRules, NamesTheSuspensionFirst) {
  ResizeFacts facts = on_three_nodes();
  facts.running = false;
  facts.suspended = true;
  EXPECT_EQ(why_not_shrink(facts, {2, 7}), "it is suspended");
  facts.gpu_types = {"a100"};
  EXPECT_EQ(why_not_grow(facts, "a100"), "it is suspended");
}

TEST(ShrinkRules, SpellsTheSubmittedListInAnotherWay) {
  EXPECT_EQ(other_spelling("n[1,3]", "n1", "n[1-4]"), "n[1,3]");
  EXPECT_EQ(other_spelling("n[1,3]", "n1", ""), "n[1,3]");
  EXPECT_EQ(other_spelling("n[1,3]", "n1", "n[1,3]"), "n[1,3],n1");
}

ResizeFacts with_gpus() {
  ResizeFacts facts = on_three_nodes();
  facts.gpu_types = {"a100"};
  return facts;
}

TEST(GrowthRules, GpusOfTheSameTypeCanCome) {
  EXPECT_EQ(why_not_grow(with_gpus(), "a100"), "");
  EXPECT_EQ(why_not_grow(with_gpus(), "h100"),
            "it holds GPUs of type a100, and those to add are h100");
  EXPECT_EQ(why_not_grow(on_three_nodes(), "a100"), "it holds no GPU");
}

// A site that allows no shrink may still let jobs grow.
TEST(GrowthRules, DoesNotNeedTheRightToShrink) {
  ResizeFacts facts = with_gpus();
  facts.shrink_allowed = false;
  EXPECT_EQ(why_not_grow(facts, "a100"), "");
}

TEST(GrowthRules, NamesEachState) {
  const std::vector<std::pair<bool ResizeFacts::*, const char*>> states = {
      {&ResizeFacts::completing, "it is completing"},
      {&ResizeFacts::suspended, "it is suspended"},
      {&ResizeFacts::configuring, "its nodes are not ready yet"},
      {&ResizeFacts::being_expanded, "another job expands it"},
      {&ResizeFacts::saving, "slurmdbd has not stored its last resize yet"},
      {&ResizeFacts::het, "it is part of a heterogeneous job"},
      {&ResizeFacts::stepmgr, "its steps are managed by slurmstepd (--stepmgr)"},
      {&ResizeFacts::shared_gpus, "it holds shards or MPS"},
      {&ResizeFacts::whole_nodes, "it has whole nodes (--exclusive)"},
      {&ResizeFacts::mixed_step, "a step of it uses GRES of several kinds"},
  };
  for (const auto& [state, why] : states) {
    ResizeFacts facts = with_gpus();
    facts.*state = true;
    EXPECT_EQ(why_not_grow(facts, "a100"), why);
  }
  ResizeFacts facts = with_gpus();
  facts.prolog_first = true;
  EXPECT_NE(why_not_grow(facts, "a100").find("PrologFlags"), std::string::npos);
  facts = with_gpus();
  facts.gpu_types.emplace_back("h100");
  EXPECT_EQ(why_not_grow(facts, "a100"), "it holds GPUs of several types");
  facts = with_gpus();
  facts.core_nodes = {2, 5};
  EXPECT_EQ(why_not_grow(facts, "a100"), "its records name different nodes");
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Which running jobs can give back which nodes.
#include "plugin/slurm/write/shrink_rules.h"

#include <gtest/gtest.h>

namespace rubato {
namespace {

// A batch job on three nodes, with its script on the first.
ShrinkFacts on_three_nodes() {
  ShrinkFacts facts;
  facts.running = true;
  facts.nodes = facts.core_nodes = {2, 5, 7};
  facts.batch_host = 2;
  return facts;
}

TEST(ShrinkRules, MiddleNodeCanGo) { EXPECT_EQ(why_not_shrink(on_three_nodes(), {2, 7}), ""); }

TEST(ShrinkRules, JobWithoutScriptCanLoseItsFirstNode) {
  ShrinkFacts facts = on_three_nodes();
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
  ShrinkFacts facts = on_three_nodes();
  facts.core_nodes = {2, 5};
  EXPECT_EQ(why_not_shrink(facts, {2, 5}), "its records name different nodes");
}

TEST(ShrinkRules, NamesEachState) {
  const std::vector<std::pair<bool ShrinkFacts::*, const char*>> states = {
      {&ShrinkFacts::completing, "it is completing"},
      {&ShrinkFacts::suspended, "it is suspended"},
      {&ShrinkFacts::configuring, "its nodes are not ready yet"},
      {&ShrinkFacts::resizing, "it is being resized"},
      {&ShrinkFacts::being_expanded, "another job expands it"},
      {&ShrinkFacts::saving, "slurmdbd has not stored its last resize yet"},
      {&ShrinkFacts::het, "it is part of a heterogeneous job"},
      {&ShrinkFacts::cron, "it is a job of scrontab"},
      {&ShrinkFacts::stepmgr, "its steps are managed by slurmstepd (--stepmgr)"},
      {&ShrinkFacts::arbitrary, "it has an arbitrary task distribution"},
      {&ShrinkFacts::shared_gpus, "it holds shards or MPS"},
  };
  for (const auto& [state, why] : states) {
    ShrinkFacts facts = on_three_nodes();
    facts.*state = true;
    EXPECT_EQ(why_not_shrink(facts, {2, 7}), why);
  }
}

TEST(ShrinkRules, RefusesWhatDoesNotRunAndWhatSlurmForbids) {
  ShrinkFacts facts = on_three_nodes();
  facts.running = false;
  EXPECT_EQ(why_not_shrink(facts, {2, 7}), "it does not run");
  facts = on_three_nodes();
  facts.shrink_allowed = false;
  EXPECT_EQ(why_not_shrink(facts, {2, 7}), "SchedulerParameters has disable_job_shrink");
}

TEST(ShrinkRules, SpellsTheSubmittedListInAnotherWay) {
  EXPECT_EQ(other_spelling("n[1,3]", "n1", "n[1-4]"), "n[1,3]");
  EXPECT_EQ(other_spelling("n[1,3]", "n1", ""), "n[1,3]");
  EXPECT_EQ(other_spelling("n[1,3]", "n1", "n[1,3]"), "n[1,3],n1");
}

}  // namespace
}  // namespace rubato

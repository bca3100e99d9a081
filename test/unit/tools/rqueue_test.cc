// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include "tools/rqueue/rqueue_json.h"
#include "tools/rqueue/rqueue_sort.h"
#include "tools/shared/job_facts.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {
namespace {

TEST(Facts, GpusOfTres) {
  EXPECT_EQ((GpusOfTres{2, "a100"}), gpus_of_tres("cpu=4,mem=1G,gres/gpu=2,gres/gpu:a100=2"));
  EXPECT_EQ((GpusOfTres{2, "a100"}), gpus_of_tres("gres:gpu:a100:2"));
  EXPECT_EQ((GpusOfTres{2, ""}), gpus_of_tres("gres/gpu:2"));
  EXPECT_EQ((GpusOfTres{1, ""}), gpus_of_tres("gres:gpu"));
  EXPECT_EQ((GpusOfTres{1, "v100"}), gpus_of_tres("gres:gpu:v100"));
  EXPECT_EQ((GpusOfTres{5, ""}), gpus_of_tres("gres/gpu:a100=2,gres/gpu:v100=3,gres/gpu=5"));
  EXPECT_EQ(GpusOfTres{}, gpus_of_tres("cpu=1,gres/gpumem=10G,gres/shard=4,gres:mps:50"));
  EXPECT_EQ(GpusOfTres{}, gpus_of_tres("N/A"));
}

TEST(Facts, SegmentBeforeHintsBeforeSlurm) {
  JobTexts texts;
  texts.tres_per_node = "gres:gpu:v100:2";
  texts.nodes = "3";
  EXPECT_EQ(6, facts_of(texts).gpus);
  EXPECT_EQ("v100", facts_of(texts).gpu_type);
  texts.comment = "free text rubato:job-type=bert;gpus=1-8;steps=10;batch=32";
  JobFacts facts = facts_of(texts);
  EXPECT_EQ("bert", facts.job_type);
  EXPECT_EQ("1-8", sizes_text(facts.sizes));
  EXPECT_EQ(320, facts.work);
  EXPECT_FALSE(facts.published);
  EXPECT_FALSE(facts.progress());
  texts.system_comment = "x {rubato job-type=vit gpu-type=a100 gpus=4 rate=2 samples=80}";
  facts = facts_of(texts);
  EXPECT_TRUE(facts.published);
  EXPECT_EQ("vit", facts.job_type);
  EXPECT_EQ(4, facts.gpus);
  EXPECT_EQ("a100", facts.gpu_type);
  EXPECT_EQ(0.25, facts.progress());
}

JobTexts started(const char* state, const char* annotation) {
  JobTexts texts;
  texts.state = state;
  texts.system_comment = annotation;
  texts.tres_per_job = "gres:gpu:2";  // as started; the job was submitted with 4
  return texts;
}

TEST(Facts, GpusOfAStartedJobAreSlurmsWhileTheAnnotationIsOlder) {
  const char* const planned = "{rubato gpu-type=h100 gpus=4 start=1800000100 wait=reserve}";
  for (const char* state : {"RUNNING", "SUSPENDED", "CANCELLED", "COMPLETED"}) {
    const JobFacts facts = facts_of(started(state, planned), 1'800'000'000);
    EXPECT_EQ(facts.gpus, 2) << state;
    EXPECT_EQ(facts.gpu_type, "h100") << state;
    EXPECT_EQ(facts.wait, "") << state;
    EXPECT_EQ(facts.start, 0) << state;
  }
  const JobFacts waits = facts_of(started("PENDING", planned), 1'800'000'000);
  EXPECT_EQ(waits.gpus, 4);
  EXPECT_EQ(waits.wait, "reserve");
  EXPECT_EQ(waits.start, 1'800'000'100);
  EXPECT_EQ(facts_of(started("PENDING", planned), 1'800'000'100).start, 0) << "passed";
}

TEST(Facts, GpusOfAResizedJobAreTheAllocatedOnes) {
  JobTexts texts = started("RUNNING", "{rubato gpu-type=a100 gpus=8}");
  EXPECT_EQ(facts_of(texts).gpus, 8) << "no TRES of GPUs are allocated";
  texts.tres_alloc = "cpu=4,node=1,billing=4,gres/gpu=4";
  EXPECT_EQ(facts_of(texts).gpus, 4);
  EXPECT_EQ(facts_of(texts).gpu_type, "a100");
}

TEST(Facts, RemainingTimeAgesAndEndsWithTheJob) {
  const char* const shown =
      "{rubato gpus=2 rate=7 remaining=100 left-low=60 left-high=300 at=1800000000}";
  JobFacts facts = facts_of(started("RUNNING", shown), 1'800'000'070);
  EXPECT_EQ(facts.remaining, 30);
  EXPECT_EQ(facts.left_low, 0);
  EXPECT_EQ(facts.left_high, 230);
  facts = facts_of(started("RUNNING", shown), 1'799'999'990);
  EXPECT_EQ(facts.remaining, 100) << "a clock that is behind slurmctld's";
  facts = facts_of(started("COMPLETED", shown), 1'800'000'070);
  EXPECT_EQ(facts.remaining, -1);
  EXPECT_EQ(facts.left_high, -1);
  EXPECT_EQ(facts.throughput, 7);
}

TEST(Facts, WrongHintsAreNone) {
  JobTexts texts;
  texts.comment = "rubato:gpus=0;job-type=bert";
  EXPECT_EQ("", facts_of(texts).job_type);
}

TEST(Query, ReadsWhatNoSeparatorCouldTellApart) {
  const auto sections = read_squeue(
      "a date\nCLUSTER: a\nJOBID@@NAME@@\n1@@odd\n@name@@\n2@@@@\n\nCLUSTER: b\nJOBID@@NAME@@\n",
      "@@", 2);
  ASSERT_TRUE(sections);
  ASSERT_EQ(2U, sections->size());
  EXPECT_EQ("a date\nCLUSTER: a\n", (*sections)[0].preamble);
  EXPECT_EQ("JOBID", (*sections)[0].headings.job_id);
  ASSERT_EQ(2U, (*sections)[0].rows.size());
  EXPECT_EQ("1", (*sections)[0].rows[0].job_id);
  EXPECT_EQ("odd\n@name", (*sections)[0].rows[0].fields[0]);
  EXPECT_EQ("", (*sections)[0].rows[1].fields[0]);
  EXPECT_EQ("\nCLUSTER: b\n", (*sections)[1].preamble);
}

TEST(Query, RefusesWhatItDidNotAskFor) {
  EXPECT_FALSE(read_squeue("1@@x", "@@", 2));
  EXPECT_FALSE(read_squeue("1@@x@@y@@\n", "@@", 2));
  EXPECT_FALSE(read_squeue("1@@x@@\n", "@@", 2)) << "no headings";
  EXPECT_TRUE(read_squeue("", "@@", 2)->empty());
}

TEST(Sort, Keys) {
  const auto order = parse_sort("P,-dlrate,t-p,+dlgpus,cluster");
  ASSERT_TRUE(order);
  EXPECT_EQ("P,t-p,cluster", order->squeue);
  ASSERT_EQ(5U, order->keys.size());
  EXPECT_TRUE(order->keys[1].down);
  EXPECT_FALSE(order->keys[4].down);
  EXPECT_EQ("--sort: unknown field 'dlrte'; did you mean dlrate?",
            parse_sort("dlrte").error().text);
  // Keys after the last Rubato key are handled by squeue.
  const auto fields = sort_fields(*order);
  ASSERT_EQ(3U, fields.size());
  EXPECT_EQ("partition", fields[0].name);
  EXPECT_EQ("prioritylong", fields[2].name);
  EXPECT_TRUE(sort_fields(*parse_sort("dlrate,P")).empty());
  EXPECT_TRUE(sort_fields(*parse_sort("P,t")).empty());
}

TEST(Json, Durations) {
  EXPECT_EQ(123, seconds_of_duration("2:03"));
  EXPECT_EQ(93784, seconds_of_duration("1-02:03:04"));
  EXPECT_FALSE(seconds_of_duration("UNLIMITED"));
  EXPECT_FALSE(seconds_of_duration("INVALID"));
  EXPECT_FALSE(seconds_of_duration("3"));
  EXPECT_FALSE(seconds_of_duration("1:2:3:4"));
  EXPECT_FALSE(seconds_of_duration("-1:02"));
}

}  // namespace
}  // namespace rubato::tools

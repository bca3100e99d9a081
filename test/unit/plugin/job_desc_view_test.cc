// SPDX-License-Identifier: GPL-2.0-or-later
// Fake submissions, updates and job records, with the fields that hints depend on.
#include "plugin/slurm/read/job_desc_view.h"

#include <gtest/gtest.h>

#include "lib/hints/comment.h"
#include "plugin/slurm/read/job_hints.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

char* chars(const char* text) { return const_cast<char*>(text); }

/// The result of slurm_init_job_desc_msg(), for the fields that are read.
job_desc_msg_t empty_desc() {
  job_desc_msg_t desc{};
  desc.min_nodes = desc.max_nodes = desc.num_tasks = desc.time_limit = NO_VAL;
  desc.ntasks_per_node = desc.requeue = desc.shared = NO_VAL16;
  desc.het_job_offset = NO_VAL;
  return desc;
}

/// A pending job with its details.
struct FakeJob {
  FakeJob() {
    record.details = &details;
    record.job_id = 7;
    record.batch_flag = 1;
    record.time_limit = 5;
    details.submit_time = 1000;
    details.min_nodes = 1;
    details.num_tasks = 1;
    details.ntasks_per_node = 0;
    details.requeue = 1;
  }
  [[nodiscard]] JobKey key() const { return {record.job_id, details.submit_time}; }

  job_record_t record{};
  job_details_t details{};
};

TEST(JobDescView, NothingSaidIsNothing) {
  RequestFacts expected;
  expected.batch = false;
  EXPECT_EQ(facts_of(empty_desc(), true), expected);
  expected.requeue = false;
  EXPECT_EQ(facts_of(empty_desc(), false), expected);
  EXPECT_FALSE(touches_request(empty_desc()));
  EXPECT_TRUE(passed_by(empty_desc()).empty());
}

TEST(JobDescView, EveryFieldOfASubmission) {
  job_desc_msg_t desc = empty_desc();
  desc.script = chars("#!/bin/sh");
  desc.array_inx = chars("1-4");
  desc.het_job_offset = 0;
  desc.tres_per_job = chars("gres:gpu:8");
  desc.tres_per_node = chars("gres:gpu:4");
  desc.tres_per_task = chars("gres:gpu:2");
  desc.tres_per_socket = chars("gres:gpu:1");
  desc.min_nodes = 2;
  desc.max_nodes = 3;
  desc.num_tasks = 8;
  desc.ntasks_per_node = 4;
  desc.time_limit = 90;
  desc.requeue = 0;
  desc.shared = JOB_SHARED_NONE;
  RequestFacts expected;
  expected.per_job = "gres:gpu:8";
  expected.per_node = "gres:gpu:4";
  expected.per_task = "gres:gpu:2";
  expected.per_socket = "gres:gpu:1";
  expected.min_nodes = 2;
  expected.max_nodes = 3;
  expected.tasks = 8;
  expected.tasks_per_node = 4;
  expected.exclusive = expected.array = expected.het = true;
  expected.requeue = false;
  expected.time_limit = 5400;
  EXPECT_EQ(facts_of(desc, true), expected);
  EXPECT_TRUE(touches_request(desc));
  desc.time_limit = INFINITE;
  desc.shared = JOB_SHARED_OK;
  EXPECT_EQ(facts_of(desc, true).time_limit, kForever);
  EXPECT_FALSE(facts_of(desc, true).exclusive);
}

TEST(JobDescView, AnUpdateChangesWhatItSays) {
  FakeJob job;
  job.record.tres_per_job = chars("gres:gpu:4");
  const RequestFacts before = facts_of(job.record);
  EXPECT_EQ(before.per_job, "gres:gpu:4");
  EXPECT_EQ(before.time_limit, 300);
  EXPECT_TRUE(before.requeue);
  EXPECT_TRUE(before.batch);

  job_desc_msg_t update = empty_desc();
  update.comment = chars("rubato:gpus=1");
  EXPECT_FALSE(touches_request(update)) << "a comment is not a request";
  RequestFacts after = before;
  apply_update(update, after);
  EXPECT_EQ(after, before);
  update.tres_per_job = chars("");
  update.tres_per_node = chars("gpu:2");
  update.time_limit = 1;
  EXPECT_TRUE(touches_request(update));
  apply_update(update, after);
  EXPECT_EQ(after.per_job, "") << "an empty text takes it out";
  EXPECT_EQ(after.per_node, "gpu:2");
  EXPECT_EQ(after.time_limit, 60);
  EXPECT_TRUE(after.requeue) << "what the update does not say stays";
}

TEST(JobDescView, AJobIsTheSameBeforeAndAfterItsSubmission) {
  job_desc_msg_t desc = empty_desc();
  desc.script = chars("#!/bin/sh");
  desc.tres_per_job = chars("gres:gpu:4");
  desc.time_limit = 5;
  FakeJob job;
  job.record.tres_per_job = chars("gres:gpu:4");
  const HintRequest submitted = hint_request(facts_of(desc, true));
  const HintRequest kept = hint_request(facts_of(job.record));
  EXPECT_EQ(submitted.size_unit(), kept.size_unit());
  EXPECT_EQ(submitted.total_gpus(), kept.total_gpus());
  EXPECT_EQ(submitted.min_nodes, kept.min_nodes);
  EXPECT_EQ(submitted.max_nodes, kept.max_nodes);
}

TEST(JobDescView, OptionsAndEnvironmentArePassed) {
  job_desc_msg_t desc = empty_desc();
  char* control[] = {chars("RUBATO_DL_GPUS=1-8"), chars("RUBATO_DLENV_BATCH=256"),
                     chars("RUBATO_DL_RESIZE_UNSET=1"), chars("OTHER=1")};
  char* environment[] = {chars("HOME=/"), chars("RUBATO_DL_BATCH=8"), chars("RUBATO_DL_STEPS=9"),
                         chars("RUBATO_GPUS=3")};
  desc.spank_job_env = control;
  desc.spank_job_env_size = 4;
  desc.environment = environment;
  desc.env_size = 4;
  const PassedHints passed = passed_by(desc);
  const auto said = parse_hints({passed.options, passed.environment, "rubato:resize=restart"});
  ASSERT_TRUE(said) << said.error().text;
  // The client's view of its environment has precedence over the job's.
  EXPECT_EQ(render_hints(*said), "gpus=1-8;batch=256;steps=9;no-resize");
}

Snapshot snapshot_of(const FakeJob& job, int entries = 1) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  for (int i = 0; i < entries; ++i) {
    Job out;
    out.key = job.key();
    snapshot.jobs.push_back(out);
  }
  return snapshot;
}

/// The job as read in one look.
Job look(JobHints& hints, const FakeJob& job, const Config& config, bool read_anew = true) {
  hints.begin(config);
  if (read_anew) hints.note(job.record, job.key());
  Snapshot snapshot = snapshot_of(job);
  hints.apply(snapshot);
  return snapshot.jobs.front();
}

TEST(JobHints, AreKeptWhileTheRecordIsNotReadAnew) {
  JobHints hints;
  const Config config;
  FakeJob job;
  job.record.tres_per_job = chars("gres:gpu:4");
  EXPECT_FALSE(look(hints, job, config).hints) << "no comment";
  job.record.comment = chars("about rubato: gpus are fine");
  EXPECT_FALSE(look(hints, job, config).hints.has_value());
  job.record.comment = chars("rubato:gpus=2,4;job-type=r50");
  for (const bool anew : {true, false, false, true}) {
    const Job seen = look(hints, job, config, anew);
    ASSERT_TRUE(seen.hints);
    EXPECT_EQ(seen.hints->job_type, "r50");
    EXPECT_EQ(seen.hints->request_gpus, 4);
  }
}

TEST(JobHints, FollowCommentRequestAndJobTypeLines) {
  JobHints hints;
  Config config;
  FakeJob job;
  job.record.tres_per_job = chars("gres:gpu:4");
  job.record.comment = chars("rubato:gpus=2,4;job-type=r50");
  EXPECT_FALSE(look(hints, job, config).hints->batch);
  config.job_types = {{.name = "r50", .hints = parse_comment("rubato:batch=64").value()}};
  EXPECT_EQ(look(hints, job, config, false).hints->batch, (Batch{64, 64}));
  job.record.comment = chars("rubato:gpus=4");
  EXPECT_EQ(look(hints, job, config).hints->sizes, GpuSizes({{4, 4}}));
  job.record.tres_per_job = chars("gres:gpu:2");
  const Job wrong = look(hints, job, config);
  EXPECT_FALSE(wrong.hints);
  EXPECT_NE(wrong.hint_error.find("the request is for 2 GPUs"), std::string::npos);
  job.record.comment = nullptr;
  const Job none = look(hints, job, config);
  EXPECT_FALSE(none.hints);
  EXPECT_EQ(none.hint_error, "");
}

TEST(JobHints, AJobOfTwoPartitionsHasThemTwice) {
  JobHints hints;
  FakeJob job;
  job.record.tres_per_job = chars("gres:gpu:4");
  job.record.comment = chars("rubato:batch=8");
  hints.begin({});
  hints.note(job.record, job.key());
  hints.note(job.record, job.key());
  Snapshot snapshot = snapshot_of(job, 2);
  hints.apply(snapshot);
  EXPECT_TRUE(snapshot.jobs[0].hints);
  EXPECT_EQ(snapshot.jobs[0], snapshot.jobs[1]);
}

TEST(JobHints, AJobThatIsGoneIsForgotten) {
  JobHints hints;
  FakeJob job;
  job.record.tres_per_job = chars("gres:gpu:4");
  job.record.comment = chars("rubato:batch=8");
  (void)look(hints, job, {});
  hints.begin({});
  Snapshot empty = make_cluster({{"a100", 4}});
  hints.apply(empty);
  EXPECT_FALSE(look(hints, job, {}, false).hints) << "only a job that is read anew is known again";
  EXPECT_TRUE(look(hints, job, {}, true).hints);
}

TEST(JobHints, AreNotReadWhenATestSaysSo) {
  JobHints hints;
  Config config;
  config.test_off.insert(Mechanism::kHintsRead);
  FakeJob job;
  job.record.comment = chars("rubato:batch=8");
  job.record.tres_per_job = chars("gres:gpu:4");
  EXPECT_FALSE(look(hints, job, config).hints);
}

}  // namespace
}  // namespace rubato::test

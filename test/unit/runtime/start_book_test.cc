// SPDX-License-Identifier: GPL-2.0-or-later
// What was decided for jobs -> what the runs of these jobs began with.
#include "lib/runtime/start_book.h"

#include <gtest/gtest.h>

#include "lib/json/public_view.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

class StartBookTest : public ::testing::Test {
 protected:
  static Explanation told_of(const Job& job, Verdict verdict = Verdict::kStart) {
    Explanation told;
    told.job = job.key;
    told.label = job.label;
    told.partition = "gpu";
    told.verdict = verdict;
    told.reason = "starts on n1; its job type does on a100 812 samples/s";
    told.gpu_type = "a100";
    told.nodes = {"n1"};
    told.facts = {{"rate.a100", "812 samples/s"}};
    return told;
  }

  void note(const Snapshot& snapshot, const std::vector<Explanation>& told = {},
            const std::string& kind = "start") {
    Plan plan;
    plan.round = ++round_;
    plan.made = snapshot.taken;
    plan.explanations = told;
    const JobBook::Change change = runs_.update(snapshot);
    book_.note(snapshot, plan, change, runs_, kind);
  }

  static Snapshot pending() {
    Snapshot snapshot = make_cluster({{"a100", 4}});
    add_pending(snapshot, 2);
    return snapshot;
  }

  // The job of `pending()` runs since `start`.
  static Snapshot running(Seconds start = kNow + 1, Seconds taken = kNow + 2) {
    Snapshot snapshot = pending();
    Job& job = snapshot.jobs[0];
    job.state = JobState::kRunning;
    job.start = start;
    job.allocation = {share_of(snapshot, 0, 2)};
    snapshot.taken = taken;
    return snapshot;
  }

  static Snapshot empty(Seconds taken) {
    Snapshot snapshot = make_cluster({{"a100", 4}});
    snapshot.taken = taken;
    return snapshot;
  }

  std::uint64_t round_ = 0;
  JobBook runs_;
  StartBook book_;
};

TEST_F(StartBookTest, a_run_begins_with_what_the_round_before_told) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0])});
  EXPECT_TRUE(book_.records()->empty()) << "it may still be refused";
  note(running());
  ASSERT_EQ(book_.records()->size(), 1U);
  const StartRecord& record = *book_.records()->front();
  EXPECT_EQ(record.job, before.jobs[0].key);
  EXPECT_EQ(record.kind, "start");
  EXPECT_EQ(record.time, kNow);
  EXPECT_EQ(record.round, 1U);
  EXPECT_EQ(record.start, kNow + 1);
  EXPECT_EQ(record.end, 0);
  EXPECT_EQ(record.told, told_of(before.jobs[0]));
}

TEST_F(StartBookTest, what_was_only_waited_for_is_not_told) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0], Verdict::kReserve)});
  note(running());
  EXPECT_TRUE(book_.records()->empty());
}

TEST_F(StartBookTest, the_last_decision_counts) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0])});
  Explanation second = told_of(before.jobs[0]);
  second.nodes = {"n2"};
  note(before, {second});
  note(running());
  EXPECT_EQ(book_.records()->front()->told.nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(book_.records()->front()->round, 2U);
}

TEST_F(StartBookTest, unmanaged_jobs_are_left_out) {
  Snapshot before = pending();
  before.jobs[0].managed = false;
  note(before, {told_of(before.jobs[0])});
  Snapshot after = running();
  after.jobs[0].managed = false;
  note(after);
  EXPECT_TRUE(book_.records()->empty());
}

TEST_F(StartBookTest, a_task_has_the_decision_of_its_array) {
  Snapshot before = pending();
  before.jobs[0].array_id = before.jobs[0].key.id;
  note(before, {told_of(before.jobs[0])});
  Snapshot after = running();
  after.jobs[0].array_id = before.jobs[0].key.id;
  after.jobs[0].key.id = 77;
  after.jobs[0].label = "1_0";
  note(after);
  ASSERT_EQ(book_.records()->size(), 1U);
  EXPECT_EQ(book_.records()->front()->job.id, 77U);
  EXPECT_EQ(book_.records()->front()->label, "1_0");
}

TEST_F(StartBookTest, an_ended_job_is_told_of_for_an_hour) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0])});
  note(running());
  const auto first = book_.records();
  EXPECT_EQ(book_.records(), first) << "nothing changed";
  note(empty(kNow + 100));
  ASSERT_EQ(book_.records()->size(), 1U);
  EXPECT_EQ(book_.records()->front()->end, kNow + 100);
  note(empty(kNow + 100 + StartBook::kKeepEnded));
  EXPECT_EQ(book_.records()->size(), 1U);
  note(empty(kNow + 101 + StartBook::kKeepEnded));
  EXPECT_TRUE(book_.records()->empty());
}

TEST_F(StartBookTest, a_restart_keeps_the_decisions_of_what_still_runs) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0])});
  note(running());
  const auto saved = decisions_from_json(to_json(*book_.records()));
  ASSERT_TRUE(saved) << saved.error().text;

  StartBook again;
  JobBook runs;
  again.restore(*saved);
  const auto note_again = [&](const Snapshot& snapshot) {
    const JobBook::Change change = runs.update(snapshot);
    again.note(snapshot, {}, change, runs, "start");
  };
  note_again(running(kNow + 1, kNow + 50));
  ASSERT_EQ(again.records()->size(), 1U);
  EXPECT_EQ(*again.records()->front(), *book_.records()->front());

  StartBook later;
  later.restore(*saved);
  JobBook none;
  const Snapshot gone = empty(kNow + 60);
  const JobBook::Change change = none.update(gone);
  later.note(gone, {}, change, none, "start");
  EXPECT_EQ(later.records()->front()->end, kNow + 60);
}

TEST_F(StartBookTest, observe_says_that_stock_slurm_started_it) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0])}, "would-start");
  note(running(), {}, "would-start");
  EXPECT_EQ(book_.records()->front()->kind, "would-start");
}

TEST_F(StartBookTest, the_public_view_names_no_hidden_node_and_no_hidden_job) {
  const Snapshot before = pending();
  note(before, {told_of(before.jobs[0])});
  note(running());
  PrivateData hidden;
  hidden.accounts = true;
  EXPECT_EQ(to_json(public_view(*book_.records(), hidden)).find("samples/s"), std::string::npos);
  hidden.nodes = true;
  const StartRecords shown = public_view(*book_.records(), hidden);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(to_json(shown).find("n1"), std::string::npos);
  hidden.jobs = true;
  EXPECT_TRUE(public_view(*book_.records(), hidden).empty());
}

}  // namespace
}  // namespace rubato::test

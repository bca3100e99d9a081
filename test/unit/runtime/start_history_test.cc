// SPDX-License-Identifier: GPL-2.0-or-later
// From decisions about jobs to the decisions at the start of their runs.
#include "lib/runtime/start_history.h"

#include <gtest/gtest.h>

#include "lib/json/public_view.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

class StartHistoryTest : public ::testing::Test {
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

  void record_round(const Snapshot& snapshot, const std::vector<Explanation>& told = {},
                    const std::string& kind = "start") {
    Plan plan;
    plan.round = ++round_;
    plan.made = snapshot.taken;
    plan.explanations = told;
    const RunningJobs::RunChanges change = runs_.update(snapshot);
    history_.record_round(snapshot, plan, change, runs_, kind);
  }

  static Snapshot pending() {
    Snapshot snapshot = make_cluster({{"a100", 4}});
    add_pending(snapshot, 2);
    return snapshot;
  }

  // The job of `pending()`, running since `start`.
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
  RunningJobs runs_;
  StartHistory history_;
};

TEST_F(StartHistoryTest, a_run_begins_with_what_the_round_before_told) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  EXPECT_TRUE(history_.records()->empty()) << "it may still be refused";
  record_round(running());
  ASSERT_EQ(history_.records()->size(), 1U);
  const StartRecord& record = *history_.records()->front();
  EXPECT_EQ(record.job, before.jobs[0].key);
  EXPECT_EQ(record.kind, "start");
  EXPECT_EQ(record.time, kNow);
  EXPECT_EQ(record.round, 1U);
  EXPECT_EQ(record.start, kNow + 1);
  EXPECT_EQ(record.end, 0);
  EXPECT_EQ(record.told, told_of(before.jobs[0]));
}

TEST_F(StartHistoryTest, what_was_only_waited_for_is_not_told) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0], Verdict::kReserve)});
  record_round(running());
  EXPECT_TRUE(history_.records()->empty());
}

TEST_F(StartHistoryTest, the_last_decision_counts) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  Explanation second = told_of(before.jobs[0]);
  second.nodes = {"n2"};
  record_round(before, {second});
  record_round(running());
  EXPECT_EQ(history_.records()->front()->told.nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(history_.records()->front()->round, 2U);
}

TEST_F(StartHistoryTest, unmanaged_jobs_are_left_out) {
  Snapshot before = pending();
  before.jobs[0].managed = false;
  record_round(before, {told_of(before.jobs[0])});
  Snapshot after = running();
  after.jobs[0].managed = false;
  record_round(after);
  EXPECT_TRUE(history_.records()->empty());
}

TEST_F(StartHistoryTest, a_task_has_the_decision_of_its_array) {
  Snapshot before = pending();
  before.jobs[0].array_id = before.jobs[0].key.id;
  record_round(before, {told_of(before.jobs[0])});
  Snapshot after = running();
  after.jobs[0].array_id = before.jobs[0].key.id;
  after.jobs[0].key.id = 77;
  after.jobs[0].label = "1_0";
  record_round(after);
  ASSERT_EQ(history_.records()->size(), 1U);
  EXPECT_EQ(history_.records()->front()->job.id, 77U);
  EXPECT_EQ(history_.records()->front()->label, "1_0");
}

TEST_F(StartHistoryTest, a_task_has_the_nodes_it_runs_on) {
  Snapshot before = make_cluster({{"a100", 4}, {"h100", 4}});
  add_pending(before, 2).array_id = 1;
  Explanation told = told_of(before.jobs[0]);
  told.reason = "starts on n1 with 2 GPUs of type a100 and 1 core; 2 of 9 array tasks start";
  told.facts = {{"start_nodes", "n1"}, {"gpu_type", "a100"}, {"tasks", "9"}};
  record_round(before, {told});
  Snapshot after = before;
  after.jobs[0].state = JobState::kRunning;
  after.jobs[0].start = kNow + 1;
  after.jobs[0].allocation = {share_of(after, 1, 2)};
  after.taken = kNow + 2;
  record_round(after);
  ASSERT_EQ(history_.records()->size(), 1U);
  const Explanation& said = history_.records()->front()->told;
  EXPECT_EQ(said.reason, "starts on n2 with 2 GPUs of type h100; 2 of 9 array tasks start");
  EXPECT_EQ(said.nodes, std::vector<std::string>{"n2"});
  EXPECT_EQ(said.gpu_type, "h100");
  EXPECT_EQ(said.facts, (Facts{{"start_nodes", "n2"}, {"gpu_type", "h100"}, {"tasks", "9"}}));
}

TEST_F(StartHistoryTest, an_ended_job_has_its_last_report) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  record_round(running());
  const JobKey key = before.jobs[0].key;
  RunFacts& facts = *runs_.find(key);
  facts.samples = 900;
  facts.throughput = 41;
  record_round(empty(kNow + 100));
  EXPECT_EQ(history_.records()->front()->samples, 900);
  EXPECT_EQ(history_.records()->front()->throughput, 41);
  facts.samples = 1000;
  history_.report_last(key, facts);
  EXPECT_EQ(history_.records()->front()->samples, 1000);
  const auto saved = decisions_from_json(to_json(*history_.records()));
  ASSERT_TRUE(saved) << saved.error().text;
  EXPECT_EQ(*saved->front(), *history_.records()->front());
}

TEST_F(StartHistoryTest, an_ended_job_has_a_summary) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  Snapshot snapshot = running();
  snapshot.jobs[0].managed = true;
  snapshot.jobs[0].eligible = kNow - 50;
  snapshot.jobs[0].time_limit = 600;
  record_round(snapshot);
  const JobKey key = before.jobs[0].key;
  EXPECT_EQ(history_.ended(key), nullptr) << "it runs";
  record_round(empty(kNow + 101));
  ASSERT_NE(history_.ended(key), nullptr);
  EXPECT_FALSE(history_.ended(key)->summary.known());
  history_.sum_up(key, *runs_.find(key), true, {"h100", 2, 2.0, 1.8, 2.2});
  const auto record = history_.ended(key);
  const RunSummary& summary = record->summary;
  EXPECT_EQ(summary.eligible, kNow - 50);
  EXPECT_EQ(summary.gpu_type, "a100");
  EXPECT_EQ(summary.gpus, 2);
  EXPECT_EQ(summary.gpu_seconds, 200) << "2 GPUs from kNow + 1 to kNow + 101";
  EXPECT_EQ(summary.forecast, 812);
  EXPECT_EQ(summary.time_limit, 600);
  EXPECT_TRUE(summary.completed);
  EXPECT_EQ(summary.better.gpu_type, "h100");
  const auto saved = decisions_from_json(to_json(*history_.records()));
  ASSERT_TRUE(saved) << saved.error().text;
  EXPECT_EQ(*saved->front(), *history_.records()->front());
  const auto shown = public_view(*history_.records(), PrivateData{.usage = true});
  EXPECT_EQ(shown.front()->summary.better, BetterPlace{});
  EXPECT_EQ(shown.front()->summary.forecast, 0);
  EXPECT_EQ(shown.front()->summary.gpu_seconds, 200);
}

TEST_F(StartHistoryTest, an_ended_job_is_told_of_for_an_hour) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  record_round(running());
  const auto first = history_.records();
  EXPECT_EQ(history_.records(), first) << "nothing changed";
  record_round(empty(kNow + 100));
  ASSERT_EQ(history_.records()->size(), 1U);
  EXPECT_EQ(history_.records()->front()->end, kNow + 100);
  record_round(empty(kNow + 100 + StartHistory::kKeepEnded));
  EXPECT_EQ(history_.records()->size(), 1U);
  record_round(empty(kNow + 101 + StartHistory::kKeepEnded));
  EXPECT_TRUE(history_.records()->empty());
}

TEST_F(StartHistoryTest, a_restart_keeps_the_decisions_of_what_still_runs) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  record_round(running());
  const auto saved = decisions_from_json(to_json(*history_.records()));
  ASSERT_TRUE(saved) << saved.error().text;

  StartHistory again;
  RunningJobs runs;
  again.restore(*saved);
  const auto note_again = [&](const Snapshot& snapshot) {
    const RunningJobs::RunChanges change = runs.update(snapshot);
    again.record_round(snapshot, {}, change, runs, "start");
  };
  note_again(running(kNow + 1, kNow + 50));
  ASSERT_EQ(again.records()->size(), 1U);
  EXPECT_EQ(*again.records()->front(), *history_.records()->front());

  StartHistory later;
  later.restore(*saved);
  RunningJobs none;
  const Snapshot gone = empty(kNow + 60);
  const RunningJobs::RunChanges change = none.update(gone);
  later.record_round(gone, {}, change, none, "start");
  EXPECT_EQ(later.records()->front()->end, kNow + 60);
}

TEST_F(StartHistoryTest, observe_says_that_stock_slurm_started_it) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])}, "would-start");
  record_round(running(), {}, "would-start");
  EXPECT_EQ(history_.records()->front()->kind, "would-start");
}

TEST_F(StartHistoryTest, the_public_view_names_no_hidden_node_and_no_hidden_job) {
  const Snapshot before = pending();
  record_round(before, {told_of(before.jobs[0])});
  record_round(running());
  PrivateData hidden;
  hidden.accounts = true;
  EXPECT_EQ(to_json(public_view(*history_.records(), hidden)).find("samples/s"), std::string::npos);
  hidden.nodes = true;
  const StartRecords shown = public_view(*history_.records(), hidden);
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(to_json(shown).find("n1"), std::string::npos);
  hidden.jobs = true;
  EXPECT_TRUE(public_view(*history_.records(), hidden).empty());
}

}  // namespace
}  // namespace rubato::test

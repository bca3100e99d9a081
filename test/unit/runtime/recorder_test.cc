// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of running jobs to memory and store, with a database in a temporary folder.
#include "lib/runtime/recorder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <semaphore>

#include "lib/base/json_value.h"
#include "lib/runtime/waiting_messages.h"
#include "lib/store/reader.h"
#include "plugin/select/gate.h"
#include "test/support/build_snapshot.h"
#include "test/support/fake_clock.h"

namespace rubato::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// Tells when a thread waits for the first time.
class WaitNoticingClock final : public Clock {
 public:
  [[nodiscard]] Seconds now() const override { return kNow; }
  void wait_until(std::condition_variable& changed, MutexLock& lock,
                  SteadyTime until) const override {
    waiting_.release();
    Clock::wait_until(changed, lock, until);
  }
  [[nodiscard]] bool sees_a_wait() const { return waiting_.try_acquire_for(10s); }

 private:
  mutable std::counting_semaphore<> waiting_{0};
};

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    std::string name = ::testing::TempDir() + "/recorderXXXXXX";
    folder_ = mkdtemp(name.data());
    config_.mode = Mode::kPlace;
    config_.manage_all = true;
    config_.message_interval = 0;
    recorder_ = make();
    gate_.set_config(std::make_shared<const Config>(config_));
    gate_.beat();
  }
  ~RecorderTest() override {
    recorder_.reset();
    fs::remove_all(folder_);
  }

  std::unique_ptr<Recorder> make() { return make(clock_); }
  /// The statistics of the store.
  JsonValue store_stats() {
    JsonValue stats;
    recorder_->put_store(stats);
    return stats["store"];
  }

  std::unique_ptr<Recorder> make(std::shared_ptr<const Clock> clock) {
    auto recorder = std::make_unique<Recorder>((folder_ / "rubato").string(), std::move(clock));
    recorder->configure(std::make_shared<const Config>(config_));
    return recorder;
  }

  // One job on 3 a100 since `since`.
  static Snapshot one_running(const std::string& job_type, Seconds taken = kNow,
                              Seconds since = kNow - 100) {
    Snapshot snapshot = make_cluster({{"a100", 4}});
    add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 600);
    Job& job = snapshot.jobs[0];
    job.managed = true;
    job.account = "research";
    job.start = since;
    job.eligible = since - 30;
    job.hints = ResolvedHints();
    job.hints->job_type = job_type;
    snapshot.taken = taken;
    return snapshot;
  }

  void record_round(const Snapshot& snapshot, const Plan& plan = {}, std::uint64_t started = 0) {
    recorder_->record_round(snapshot, plan, memory_, started);
  }

  void send(const JobKey& key, std::int64_t samples, double throughput, Seconds time = kNow) {
    ASSERT_EQ(gate_.post({.job = key,
                          .uid = 1,
                          .time = time,
                          .restarts = 0,
                          .message = Report{.samples = samples,
                                            .throughput = throughput,
                                            .batch = 64,
                                            .loss = 0.5,
                                            .forward = {},
                                            .iteration = {},
                                            .noise = {}}}),
              PostResult::kTaken);
    recorder_->process_messages(gate_.take_job_messages(), memory_);
  }

  // Stops the recorder, so that everything is in the database.
  store::Reader stored() {
    recorder_->stop(clock_->steady() + 10s);
    auto reader = store::Reader::open((folder_ / "rubato/rubato.db").string());
    EXPECT_TRUE(reader) << reader.error().text;
    return std::move(*reader);
  }

  std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>(kNow);
  fs::path folder_;
  Config config_;
  Gate gate_;
  Memory memory_;
  std::unique_ptr<Recorder> recorder_;
};

TEST_F(RecorderTest, a_report_becomes_a_sample_and_progress) {
  const Snapshot snapshot = one_running("resnet50");
  const JobKey key = snapshot.jobs[0].key;
  record_round(snapshot);
  send(key, 5000, 50);
  ASSERT_EQ(memory_.progress.size(), 1U);
  EXPECT_EQ(memory_.progress[0].samples, 5000);
  EXPECT_EQ(memory_.progress[0].throughput, 50);
  EXPECT_TRUE(recorder_->news());

  const auto samples = *stored().all_samples();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].job, key);
  EXPECT_EQ(samples[0].type, (store::JobType{"research", "resnet50", false}));
  EXPECT_EQ(samples[0].gpu_type, "a100");
  EXPECT_EQ(samples[0].gpus, 3);
  EXPECT_EQ(samples[0].nodes, 1);
  EXPECT_EQ(samples[0].run_start, kNow - 100);
  EXPECT_EQ(samples[0].loss, 0.5);
  EXPECT_EQ(samples[0].flag, store::Flag::kNone);
}

TEST_F(RecorderTest, reports_become_forecasts_that_are_judged) {
  Snapshot snapshot = one_running("resnet50");
  snapshot.jobs[0].hints->work = Work{.unit = WorkUnit::kSamples, .count = 100000};
  const JobKey key = snapshot.jobs[0].key;
  record_round(snapshot);
  for (int i = 1; i <= 15; ++i) send(key, 500 * i, 50, kNow + 10 * i);
  ASSERT_EQ(memory_.progress_histories.size(), 1U);
  const ProgressHistory& progress_history = memory_.progress_histories[0];
  EXPECT_EQ(progress_history.job, key);
  EXPECT_EQ(progress_history.gpus, 3);
  EXPECT_TRUE(progress_history.due);
  EXPECT_FALSE(progress_history.predictable) << "only a full round promotes";
  EXPECT_NEAR(progress_history.left, (100000 - 7500) / 50.0, 1);
  EXPECT_TRUE(memory_.types.empty()) << "the job has not ended";
  snapshot.jobs.clear();
  snapshot.taken = kNow + 160;
  record_round(snapshot);
  ASSERT_EQ(memory_.types.size(), 1U);
  EXPECT_EQ(memory_.types[0].account, "research");
  EXPECT_EQ(memory_.types[0].job_type, "resnet50");
  EXPECT_TRUE(memory_.types[0].predictable);
}

TEST_F(RecorderTest, without_a_job_type_only_progress_is_kept) {
  const Snapshot snapshot = one_running("");
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50);
  EXPECT_EQ(memory_.progress.size(), 1U);
  EXPECT_EQ(recorder_->stats().untyped, 1U);
  EXPECT_TRUE(stored().all_samples()->empty());
}

TEST_F(RecorderTest, a_job_on_two_types_is_a_kind_of_its_own) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"h100", 8}});
  add_running(snapshot, {share_of(snapshot, 0, 2), share_of(snapshot, 1, 2)}, kNow + 600);
  snapshot.jobs[0].start = kNow - 100;
  snapshot.jobs[0].hints = ResolvedHints();
  snapshot.jobs[0].hints->job_type = "bert";
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50);
  const auto samples = *stored().all_samples();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].gpu_type, "a100+h100");
  EXPECT_EQ(samples[0].gpus, 4);
}

TEST_F(RecorderTest, sharing_follows_rubato_conf) {
  config_.job_types = {{.name = "resnet50", .shared = true}};
  recorder_->configure(std::make_shared<const Config>(config_));
  const Snapshot snapshot = one_running("resnet50");
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50);
  EXPECT_TRUE((*stored().all_samples())[0].type.shared);
}

TEST_F(RecorderTest, a_letter_waits_for_the_snapshot_that_shows_its_job) {
  const Snapshot snapshot = one_running("resnet50");
  send(snapshot.jobs[0].key, 5000, 50);
  EXPECT_TRUE(memory_.progress.empty());
  record_round(snapshot);
  EXPECT_EQ(memory_.progress.size(), 1U);
  EXPECT_EQ(recorder_->stats().unknown, 0U);
}

TEST_F(RecorderTest, a_letter_of_no_job_is_dropped_and_counted) {
  send({99, 1}, 5000, 50);
  record_round(one_running("resnet50", kNow + 5));
  EXPECT_EQ(recorder_->stats().unknown, 0U);
  record_round(one_running("resnet50", kNow + 6));
  EXPECT_EQ(recorder_->stats().unknown, 1U);
  EXPECT_TRUE(memory_.progress.empty());
}

TEST_F(RecorderTest, reports_that_wait_for_a_snapshot_reach_the_next_process) {
  const Snapshot snapshot = one_running("resnet50");
  send(snapshot.jobs[0].key, 5000, 50);
  const std::string path = (folder_ / "messages").string();
  ASSERT_EQ(keep_waiting_messages(path, recorder_->waiting()), "");
  recorder_.reset();
  recorder_ = make();
  recorder_->restore_waiting(take_waiting_messages(path));
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(take_waiting_messages(path).empty());
  record_round(snapshot);
  EXPECT_TRUE(recorder_->waiting().empty());
  const auto samples = *stored().all_samples();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].samples_done, 5000);
  EXPECT_EQ(samples[0].loss, 0.5);
}

TEST(WaitingMessages, DamagedLinesAreLeftOut) {
  const JobMessage one{.job = {7, 1700000000},
                       .uid = 1000,
                       .time = 1700000100,
                       .restarts = 2,
                       .message = Report{.samples = 64, .throughput = 2.5, .batch = 8}};
  const std::string line = text_of_waiting({one});
  EXPECT_EQ(waiting_messages_from(line + "7 1700000000 x\n\n" + line.substr(0, 30) + "\n" + line),
            (std::vector{one, one}));
}

TEST_F(RecorderTest, the_last_report_of_a_job_that_ended_counts) {
  const Snapshot snapshot = one_running("resnet50");
  record_round(snapshot);
  Snapshot empty = make_cluster({{"a100", 4}});
  empty.taken = kNow + 1;
  record_round(empty);
  send(snapshot.jobs[0].key, 9000, 50, kNow + 1);
  EXPECT_EQ(recorder_->stats().stored, 1U);
  empty.taken = kNow + 100;
  record_round(empty);
  send(snapshot.jobs[0].key, 9500, 50, kNow + 100);
  EXPECT_EQ(recorder_->stats().stored, 1U);
}

TEST_F(RecorderTest, the_work_of_an_ended_job_counts_for_its_type) {
  const Snapshot snapshot = one_running("resnet50");
  const JobKey key = snapshot.jobs[0].key;
  record_round(snapshot);
  send(key, 5000, 50);
  Snapshot empty = make_cluster({{"a100", 4}});
  empty.taken = kNow + 10;
  record_round(empty);
  EXPECT_TRUE(memory_.works.empty()) << "how it ended is not known";
  send(key, 5400, 50, kNow + 8);  // its last report
  recorder_->record_works({}, memory_);
  EXPECT_TRUE(memory_.works.empty()) << "it was cancelled";
  recorder_->record_works({{key.id + 1, key.submit}, key}, memory_);
  ASSERT_EQ(memory_.works.size(), 1U);
  EXPECT_EQ(memory_.works[0], (ProfileWork{"research", "resnet50", kNow + 10, {{5400}}}));
}

TEST_F(RecorderTest, an_ended_run_is_summed_up_with_what_the_models_know) {
  Snapshot before = one_running("resnet50", kNow - 101);
  Job& waiting = before.jobs[0];
  waiting.state = JobState::kPending;
  waiting.allocation.clear();
  Plan plan;
  Explanation told;
  told.job = waiting.key;
  told.verdict = Verdict::kStart;
  told.gpu_type = "a100";
  plan.explanations.push_back(told);
  record_round(before, plan);
  record_round(one_running("resnet50"));
  const JobKey key = before.jobs[0].key;
  send(key, 1000, 40);
  Snapshot after = make_cluster({{"a100", 4}});
  after.taken = kNow + 20;
  record_round(after);

  std::vector<ThroughputObservation> observations;
  for (const auto& [type, rate] : {std::pair{"a100", 40.0}, std::pair{"h100", 90.0}}) {
    ThroughputObservation one{{"research", "resnet50"}, type, 3, rate, 400};
    one.jobs = one.profile_jobs = 5;
    observations.push_back(one);
  }
  const Models models({}, std::make_shared<const ThroughputModel>(TypeSpeeds(), observations));
  const auto records = recorder_->summarise({key}, models);
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0]->summary.completed);
  EXPECT_EQ(records[0]->summary.better.gpu_type, "h100");
  EXPECT_EQ(records[0]->samples, 1000);
  const JsonValue day = recorder_->report_json(true).at("days")[0];
  EXPECT_EQ(day.at("completions").at("jobs").get<int>(), 1);
  EXPECT_EQ(day.at("completions").at("seconds").get<int>(), 150) << "eligible 130 s before kNow";
}

TEST_F(RecorderTest, without_the_mechanism_nothing_is_summed_up) {
  config_.test_off.insert(Mechanism::kJobSummary);
  recorder_ = make();
  record_round(one_running("resnet50"));
  Snapshot after = make_cluster({{"a100", 4}});
  after.taken = kNow + 20;
  record_round(after);
  EXPECT_TRUE(recorder_->summarise({}, Models()).empty());
}

TEST_F(RecorderTest, changes_of_running_jobs_count_for_the_day) {
  AskedResize grown{
      .by_round = true, .live = true, .step = ResizeStep::kDone, .from = 1, .gpus = 2};
  grown.gain = 100;
  AskedResize shrunk = grown;
  shrunk.gpus = 1;
  shrunk.from = 2;
  AskedResize failed = grown;
  failed.step = ResizeStep::kFailed;
  AskedResize saving = grown;
  saving.step = ResizeStep::kSaving;
  AskedResize measured = grown;
  measured.measured = true;
  measured.cost = 7;
  AskedResize stopped{.step = ResizeStep::kDone, .from = 2};
  recorder_->record_changes({grown, shrunk, failed, saving, measured, stopped}, kNow);
  const JsonValue changes = recorder_->report_json(true).at("days")[0].at("changes");
  EXPECT_EQ(json_text(changes),
            R"({"grown":1,"shrunk":1,"stopped":1,"failed":1,"measured":1,"cost_s":7.0,)"
            R"("gain_s":200.0})");
}

TEST_F(RecorderTest, the_work_of_a_shared_type_counts_for_all_accounts) {
  config_.job_types = {{.name = "resnet50", .shared = true}};
  recorder_->configure(std::make_shared<const Config>(config_));
  const Snapshot snapshot = one_running("resnet50");
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50);
  record_round(make_cluster({{"a100", 4}}));
  recorder_->record_works({snapshot.jobs[0].key}, memory_);
  ASSERT_EQ(memory_.works.size(), 1U);
  EXPECT_EQ(memory_.works[0].account, "");
}

TEST_F(RecorderTest, an_older_report_does_not_turn_progress_back) {
  const Snapshot snapshot = one_running("resnet50");
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50, kNow);
  send(snapshot.jobs[0].key, 4000, 50, kNow - 10);
  EXPECT_EQ(memory_.progress[0].samples, 5000);
}

TEST_F(RecorderTest, attained_service_is_what_was_held) {
  record_round(one_running("resnet50", kNow));  // 100 s on 3 GPUs before
  record_round(one_running("resnet50", kNow + 40));
  Snapshot grown = one_running("resnet50", kNow + 50);
  grown.jobs[0].allocation[0].gpus[0].count = 4;
  record_round(grown);
  Snapshot empty = make_cluster({{"a100", 4}});
  empty.taken = kNow + 60;
  record_round(empty);
  const auto jobs = *stored().jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].attained, 100 * 3 + 50 * 3 + 10 * 4);
  EXPECT_EQ(jobs[0].updated, kNow + 60);
}

Plan plan_with(const JobKey& key, Verdict verdict, const std::string& node, Seconds made) {
  Plan plan;
  plan.made = made;
  Explanation told;
  told.job = key;
  told.verdict = verdict;
  told.nodes = {node};
  told.reason = "because of \"it\"";
  plan.explanations = {told};
  return plan;
}

TEST_F(RecorderTest, a_decision_is_recorded_once_until_it_changes) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  const JobKey key = add_pending(snapshot, 2).key;
  for (int i = 0; i < 3; ++i) {
    Plan plan = plan_with(key, Verdict::kReserve, "n1", kNow + i);
    plan.explanations[0].start_earliest = kNow + 100 + i;  // changes in each round
    record_round(snapshot, plan);
  }
  record_round(snapshot, plan_with(key, Verdict::kReserve, "n2", kNow + 3));
  record_round(snapshot, plan_with(key, Verdict::kWait, "n2", kNow + 4));
  record_round(snapshot, plan_with(key, Verdict::kStart, "n2", kNow + 5));
  Plan refused;
  refused.made = kNow + 6;
  refused.memory.jobs = {{.job = key, .refusals = 1, .refusal = "busy", .refused_request = {}}};
  record_round(snapshot, refused);
  refused.memory.jobs[0].refusals = 2;
  record_round(snapshot, refused);
  const auto decisions = *stored().decisions(key);
  ASSERT_EQ(decisions.size(), 4U);
  EXPECT_EQ(decisions[0].kind, "reserve");
  EXPECT_EQ(decisions[0].time, kNow);
  EXPECT_EQ(decisions[1].kind, "reserve");
  EXPECT_EQ(decisions[2].kind, "start");
  EXPECT_EQ(decisions[3].kind, "refusal");
  EXPECT_EQ(decisions[3].text, R"({"refusal":"busy","refusals":1})");
  EXPECT_NE(decisions[0].text.find(R"("reason":"because of \"it\"")"), std::string::npos)
      << decisions[0].text;
}

TEST_F(RecorderTest, observe_counts_what_the_plan_said_first) {
  config_.mode = Mode::kObserve;
  recorder_->configure(std::make_shared<const Config>(config_));
  Snapshot waiting = make_cluster({{"a100", 4}});
  waiting.taken = kNow - 20;
  add_pending(waiting, 2);
  const Snapshot running = one_running("resnet50", kNow, kNow - 2);
  const JobKey key = running.jobs[0].key;
  record_round(waiting, plan_with(key, Verdict::kStart, "n1", kNow - 20));
  record_round(waiting, plan_with(key, Verdict::kWait, "n1", kNow - 15));
  record_round(waiting, plan_with(key, Verdict::kStart, "n1", kNow - 10));
  record_round(running);
  const auto days = recorder_->report_json(true)["days"];
  ASSERT_EQ(days.size(), 1U);
  EXPECT_EQ(days[0]["mode"], "observe");
  EXPECT_EQ(days[0]["waits"]["jobs"], 1);
  EXPECT_EQ(days[0]["waits"]["seconds"], 30);
  EXPECT_EQ(days[0]["earlier"]["jobs"], 1);
  EXPECT_EQ(days[0]["earlier"]["seconds"], 18);  // from the first time it was logged
  EXPECT_EQ(days[0]["not_earlier"], 0);
  EXPECT_EQ(days[0]["by_job_type"]["resnet50"]["jobs"], 1);
  EXPECT_EQ((*stored().decisions(key))[0].kind, "would-start");
}

TEST_F(RecorderTest, a_job_that_stock_starts_at_once_is_not_earlier) {
  config_.mode = Mode::kObserve;
  recorder_->configure(std::make_shared<const Config>(config_));
  record_round(make_cluster({{"a100", 4}}));
  record_round(one_running("resnet50", kNow + 2, kNow + 1));
  EXPECT_EQ(recorder_->report_json(true)["days"][0]["not_earlier"], 1);
}

TEST_F(RecorderTest, a_restart_counts_no_start_twice) {
  record_round(make_cluster({{"a100", 4}}));
  record_round(one_running("resnet50", kNow + 2, kNow + 1), {}, 1);
  const std::string report = recorder_->take_report(true);
  ASSERT_FALSE(report.empty());
  EXPECT_TRUE(recorder_->take_report(true).empty()) << "it has not changed";
  recorder_ = make();
  recorder_->restore(report);
  record_round(one_running("resnet50", kNow + 10, kNow + 1));
  const auto day = recorder_->report_json(true)["days"][0];
  EXPECT_EQ(day["waits"]["jobs"], 1);
  EXPECT_EQ(day["started"], 1);
}

TEST_F(RecorderTest, off_stores_nothing_and_keeps_progress) {
  config_.test_off = {Mechanism::kStore};
  recorder_ = make();
  const Snapshot snapshot = one_running("resnet50");
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50);
  EXPECT_EQ(memory_.progress.size(), 1U);
  EXPECT_FALSE(recorder_->ready());
  EXPECT_EQ(store_stats()["state"], "off");
}

TEST_F(RecorderTest, a_folder_that_cannot_be_written_stops_nothing) {
  recorder_.reset();
  fs::remove_all(folder_ / "rubato");
  config_.store_dir = (folder_ / "nowhere/below").string();
  const auto clock = std::make_shared<WaitNoticingClock>();
  recorder_ = make(clock);
  const Snapshot snapshot = one_running("resnet50");
  record_round(snapshot);
  send(snapshot.jobs[0].key, 5000, 50);
  EXPECT_EQ(memory_.progress.size(), 1U);
  ASSERT_TRUE(clock->sees_a_wait()) << "the store waits for its next try";
  const JsonValue stats = store_stats();
  EXPECT_EQ(stats["state"], "off");
  EXPECT_NE(stats["trouble"], "");
}

}  // namespace
}  // namespace rubato::test

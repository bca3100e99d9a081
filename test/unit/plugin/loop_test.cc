// SPDX-License-Identifier: GPL-2.0-or-later
// The loop with a fake slurmctld. Times here only limit how long a test waits for an event; none is
// a performance limit.
#include "plugin/sched/loop.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "lib/json/json.h"
#include "plugin/select/gate.h"
#include "test/support/fake_core.h"
#include "test/support/fake_slurm_log.h"
#include "test/support/small_snapshot.h"
#include "test/support/statistics_checks.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

Snapshot one_pending_job() { return test::small_snapshot(1); }

class LoopTest : public ::testing::Test {
 protected:
  LoopTest() {
    setenv("RUBATO_TESTING", "1", 1);
    std::string name = ::testing::TempDir() + "/loopXXXXXX";
    folder_ = mkdtemp(name.data());
    core().folder = folder_.string();
    core().records_fit = true;
    core().shutting_down = false;
    for (auto* count :
         {&core().looks_reading, &core().looks_writing, &core().commits, &core().starts,
          &core().writes_back, &core().clears, &core().segments, &core().segment_clears,
          &core().stock_woken, &core().full_looks, &core().peeks, &core().reserves, &core().coming,
          &core().cycles, &core().max_rpcs, &core().rpcs})
      *count = 0;
    core().quiet = true;
    core().partitions_changed = 0;
    set_jobs(one_pending_job());
    configure("Mode=place\nManagedPartitions=all\n");
  }

  ~LoopTest() override {
    end();
    fs::remove_all(folder_);
  }

  static test::FakeCore& core() { return test::core(); }

  static void set_jobs(Snapshot snapshot) {
    const std::lock_guard lock(core().mutex);
    core().snapshot = std::move(snapshot);
  }

  void configure(const std::string& text, const std::string& round_interval = "0.1") {
    std::ofstream(folder_ / "rubato.conf")
        << text << "RoundInterval=" << round_interval << "\nPublishInterval=0.1\n";
    if (loop_ != nullptr) loop_->reconfigure();
  }

  void begin() {
    loop_ = std::make_unique<Loop>(gate_);
    thread_ = std::thread([this] { loop_->run(); });
  }

  void end() {
    if (!thread_.joinable()) return;
    loop_->stop();
    thread_.join();
    loop_.reset();
  }

  static bool until(const std::function<bool()>& what) {
    for (int i = 0; i < 2000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  [[nodiscard]] bool closed() {
    GateQuestion question;
    question.kind = GateQuestion::Kind::kRunNow;
    question.managed = true;
    return gate_.answer(question).kind == GateAnswer::Kind::kRefuse;
  }

  static bool said(const std::string& words) {
    for (const std::string& line : test::logged())
      if (line.find(words) != std::string::npos) return true;
    return false;
  }

  fs::path folder_;
  Gate gate_;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

TEST_F(LoopTest, PlacesAndClosesTheGate) {
  begin();
  EXPECT_TRUE(until([] { return core().starts > 0; }));
  EXPECT_TRUE(until([] { return core().writes_back > 0; }));
  EXPECT_TRUE(closed());
  EXPECT_EQ(core().looks_reading, 1) << "the check of slurmctld's records, once";
}

TEST_F(LoopTest, StartsNoNewJobWithGpusBeforeTheNodeHasRegistered) {
  Snapshot snapshot = one_pending_job();
  snapshot.jobs.front().key.submit = std::time(nullptr) + 3600;  // later than the loop
  for (Node& node : snapshot.nodes) node.unregistered = true;
  set_jobs(snapshot);
  begin();
  ASSERT_TRUE(until([] { return core().commits > 3; }));
  EXPECT_EQ(core().starts, 0);
  for (Node& node : snapshot.nodes) node.unregistered = false;
  set_jobs(snapshot);
  EXPECT_TRUE(until([] { return core().starts > 0; }));
}

TEST_F(LoopTest, ObserveWritesNothing) {
  configure("Mode=observe\nManagedPartitions=all\n");
  begin();
  EXPECT_TRUE(until([] { return core().looks_reading > 3; }));
  EXPECT_FALSE(closed());
  EXPECT_EQ(core().looks_writing, 0);
  EXPECT_EQ(core().commits, 0);
  EXPECT_EQ(core().writes_back, 0);
  EXPECT_EQ(core().segments, 0);
}

TEST_F(LoopTest, WithoutAConfigurationItObserves) {
  fs::remove(folder_ / "rubato.conf");
  begin();
  EXPECT_TRUE(until([] { return core().looks_reading > 1; }));
  EXPECT_EQ(core().commits, 0);
}

TEST_F(LoopTest, LeavingPlaceTakesBackWhatStandsInJobs) {
  begin();
  ASSERT_TRUE(until([] { return core().writes_back > 0; }));
  configure("Mode=observe\n");
  EXPECT_TRUE(until([] { return core().clears == 1; }));
  EXPECT_TRUE(until([] { return core().segment_clears == 1; }));
  EXPECT_TRUE(until([this] { return !closed(); }));
}

TEST_F(LoopTest, ABadFileNeverReplacesAGoodOne) {
  begin();
  ASSERT_TRUE(until([] { return core().commits > 0; }));
  test::clear_log();
  configure("Mode=palce\n");
  ASSERT_TRUE(until([] { return said("stays (Mode=place)"); }));
  const int commits = core().commits;
  EXPECT_TRUE(until([&] { return core().commits > commits; }));
  EXPECT_TRUE(closed());
  fs::remove(folder_ / "rubato.conf");
  test::clear_log();
  loop_->reconfigure();
  ASSERT_TRUE(until([] { return said("rubato.conf is missing"); }));
  EXPECT_TRUE(closed());
}

TEST_F(LoopTest, AThrowHandsTheJobsOverAndItRecovers) {
  begin();
  ASSERT_TRUE(until([this] { return core().commits > 0 && closed(); }));
  configure("Mode=place\nManagedPartitions=all\nTestInject=throw-round\n");
  EXPECT_TRUE(until([this] { return !closed(); }));
  EXPECT_TRUE(until([] { return core().stock_woken > 0; }));
  configure("Mode=place\nManagedPartitions=all\n");
  EXPECT_TRUE(until([this] { return closed(); }));
}

TEST_F(LoopTest, ALatePlanIsDropped) {
  configure("Mode=place\nManagedPartitions=all\nRoundDeadline=0.1\nTestInject=slow-round:400\n");
  begin();
  EXPECT_TRUE(until([] { return core().stock_woken > 0; }));
  EXPECT_EQ(core().commits, 0);
  EXPECT_FALSE(closed());
}

Snapshot pending_jobs(JobId count) {
  Snapshot snapshot = one_pending_job();
  for (JobId id = 2; id <= count; ++id) {
    Job job = snapshot.jobs.front();
    job.key.id = id;
    job.label = std::to_string(id);
    job.rank = static_cast<int>(id);
    snapshot.jobs.push_back(job);
  }
  return snapshot;
}

TEST_F(LoopTest, ConsidersFewerJobsAfterALateRoundAndAllWhenThereIsTime) {
  set_jobs(pending_jobs(64));
  const std::string options = "Mode=place\nManagedPartitions=all\nRoundDeadline=1\n";
  configure(options + "TestInject=slow-job:25\n");  // 64 jobs: 1.6 s
  begin();
  ASSERT_TRUE(until([] { return core().commits > 1; }));
  EXPECT_GT(core().stock_woken, 0) << "the first plan came too late";
  EXPECT_TRUE(said("considering the first"));
  EXPECT_TRUE(until([this] { return closed(); }));
  configure(options);
  EXPECT_TRUE(until([] { return said("rounds consider all pending jobs again"); }));
}

TEST_F(LoopTest, WithoutFewerJobsEachLatePlanIsDropped) {
  set_jobs(pending_jobs(64));
  configure(
      "Mode=place\nManagedPartitions=all\nRoundDeadline=1\nTestInject=slow-job:25\n"
      "TestOff=round-size\n");
  begin();
  EXPECT_TRUE(until([] { return core().stock_woken > 1; }));
  EXPECT_EQ(core().commits, 0);
}

TEST_F(LoopTest, UpdatesOfHintsForceNoFullLooks) {
  begin();
  ASSERT_TRUE(until([] { return core().commits > 1; }));
  const auto began = std::chrono::steady_clock::now();
  const int commits = core().commits;
  while (std::chrono::steady_clock::now() - began < 1500ms) {
    gate_.note_hints({.updates = 1});
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_GT(core().commits, commits);
  EXPECT_EQ(core().full_looks, 1);
}

TEST_F(LoopTest, AStoppedLoopBeatsNoMore) {
  begin();
  ASSERT_TRUE(until([this] { return gate_.beat_age().has_value(); }));
  configure(
      "Mode=place\nManagedPartitions=all\nRoundDeadline=0.5\nHeartbeatTimeout=1\nTestInject=stop-"
      "loop\n");
  EXPECT_TRUE(until([this] { return gate_.beat_age().value_or(0) > 1.0; }));
  EXPECT_FALSE(closed());
  configure("Mode=place\nManagedPartitions=all\nRoundDeadline=0.5\nHeartbeatTimeout=1\n");
  EXPECT_TRUE(until([this] { return closed(); }));
}

TEST_F(LoopTest, AHangEndsWithTheLoop) {
  configure("Mode=place\nManagedPartitions=all\nTestInject=hang-round:3600\n");
  begin();
  ASSERT_TRUE(until([] { return core().looks_writing > 0; }));
  const auto began = std::chrono::steady_clock::now();
  end();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  EXPECT_EQ(core().commits, 0);
}

TEST_F(LoopTest, RecordsOfTheWrongSizeLeaveEverythingToStock) {
  core().records_fit = false;
  begin();
  EXPECT_TRUE(until([] { return said("8 bytes more"); }));
  EXPECT_FALSE(closed());
  EXPECT_EQ(core().commits, 0);
  EXPECT_TRUE(until([&] {
    std::ifstream file(folder_ / "rubato/publish/stats.json");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    return text.find("8 bytes more") != std::string::npos;
  })) << "rubato doctor names the record";
}

TEST_F(LoopTest, TheGateClosesBeforeTheFirstCycle) {
  configure("Mode=place\nManagedPartitions=all\nTestInject=stop-loop\n");
  begin();
  EXPECT_TRUE(until([this] { return closed(); }));
  EXPECT_EQ(core().cycles, 0);
}

TEST_F(LoopTest, ComparesRecordsAgainUntilAJobIsThere) {
  core().has_jobs = false;
  begin();
  ASSERT_TRUE(until([] { return core().commits > 1; }));
  core().records_fit = false;
  EXPECT_TRUE(until([] { return said("8 bytes more"); }));
  EXPECT_TRUE(until([this] { return !closed(); }));
  core().has_jobs = true;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(LoopTest, RemembersAcrossARestart) {
  begin();
  ASSERT_TRUE(until([] { return core().commits > 2; }));
  end();
  std::ifstream file(folder_ / "rubato/state.json");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto memory = memory_from_json(text, one_pending_job());
  ASSERT_TRUE(memory) << memory.error().text;
  EXPECT_GT(memory->round, 2U);
  begin();
  ASSERT_TRUE(until([] { return core().commits > 5; }));
  end();
  std::ifstream again(folder_ / "rubato/state.json");
  const std::string later((std::istreambuf_iterator<char>(again)), {});
  EXPECT_GT(memory_from_json(later, one_pending_job())->round, memory->round);
}

TEST_F(LoopTest, ABrokenStateFileIsSaidAndSetAside) {
  fs::create_directories(folder_ / "rubato");
  std::ofstream(folder_ / "rubato/state.json") << "{\"schema\":";
  test::clear_log();
  begin();
  EXPECT_TRUE(until([] { return core().commits > 0; }));
  EXPECT_TRUE(said("state.json is not used"));
  EXPECT_EQ(text_of(folder_ / "rubato/state.json.unused"), "{\"schema\":");
  end();
  EXPECT_NE(text_of(folder_ / "rubato/state.json").find("rubato.state/1"), std::string::npos);
}

TEST_F(LoopTest, TimesLaterThanNowInTheStateFileCountAsNow) {
  Snapshot snapshot = one_pending_job();
  JobMemory ahead;
  ahead.job = snapshot.jobs.front().key;
  ahead.first_seen = ahead.last_try = time(nullptr) + 86400 * 365;
  ahead.refusals = 1;
  Memory memory;
  memory.jobs = {ahead};
  fs::create_directories(folder_ / "rubato");
  std::ofstream(folder_ / "rubato/state.json") << to_json(memory, snapshot);
  test::clear_log();
  begin();
  EXPECT_TRUE(until([] { return core().commits > 0; }));
  end();
  EXPECT_TRUE(said("state.json has 2 times that are later than now"));
}

int count_said(const std::string& words) {
  int count = 0;
  for (const std::string& line : test::logged())
    if (line.find(words) != std::string::npos) ++count;
  return count;
}

TEST_F(LoopTest, AClockThatIsSetBackWhileItRunsIsSaidOnce) {
  Snapshot snapshot = one_pending_job();
  snapshot.taken = 5000;
  set_jobs(snapshot);
  test::clear_log();
  begin();
  ASSERT_TRUE(until([] { return core().commits > 1; }));
  snapshot.taken = 2000;
  set_jobs(snapshot);
  EXPECT_TRUE(until([] { return said("the clock was set back by 3000 s"); }));
  const int commits = core().commits;
  ASSERT_TRUE(until([&] { return core().commits > commits + 3; }));
  EXPECT_EQ(count_said("the clock was set back"), 1);
}

TEST_F(LoopTest, WhatIsNoRegularFileIsSaidOnceAndHoldsNothingUp) {
  fs::create_directories(folder_ / "rubato");
  for (const char* name : {"state.json", "report.json", "decisions.json", "state.json.new"})
    ASSERT_EQ(mkfifo((folder_ / "rubato" / name).c_str(), 0600), 0);
  test::clear_log();
  begin();
  ASSERT_TRUE(until([] { return core().commits > 0; }));
  for (const char* name : {"state.json", "report.json", "decisions.json"})
    EXPECT_EQ(count_said(std::string(name) + " is not used: Not a regular file"), 1) << name;
  EXPECT_TRUE(until([&] { return fs::is_regular_file(folder_ / "rubato/state.json"); }));
}

TEST_F(LoopTest, APublishDirIsMadeOnlyBelowAFolderThatIsThere) {
  test::clear_log();
  configure("Mode=place\nManagedPartitions=all\nPublishDir=" + (folder_ / "x/y").string() + "\n");
  begin();
  ASSERT_TRUE(until([] { return said("cannot make the folder"); }));
  const int commits = core().commits;
  ASSERT_TRUE(until([&] { return core().commits > commits + 5; }));
  EXPECT_EQ(count_said("/x/y"), 1);
  EXPECT_FALSE(fs::exists(folder_ / "x"));
  fs::create_directories(folder_ / "x");
  EXPECT_TRUE(until([&] { return fs::exists(folder_ / "x/y/plan.json"); }));
  EXPECT_TRUE(until([&] { return said("/x/y is written again"); }));
}

TEST_F(LoopTest, PublishesForPeople) {
  begin();
  EXPECT_TRUE(until([this] { return fs::exists(folder_ / "rubato/publish/stats.json"); }));
  for (const char* name : {"snapshot.json", "plan.json"})
    EXPECT_TRUE(fs::exists(folder_ / "rubato/publish" / name)) << name;
  const auto mode = fs::status(folder_ / "rubato/publish/plan.json").permissions();
  EXPECT_NE(mode & fs::perms::others_read, fs::perms::none);
}

Snapshot one_running_job() {
  Snapshot snapshot = one_pending_job();
  Job& job = snapshot.jobs[0];
  job.state = JobState::kRunning;
  job.rank = 0;
  job.start = 150;
  job.name = "moonshot";
  job.account = "skunkworks";
  job.hints = ResolvedHints();
  job.hints->job_type = "resnet50";
  job.allocation = {{.node = 0, .cores = 1, .memory = 1, .gpus = {{"a100", 2}}}};
  return snapshot;
}

TEST_F(LoopTest, AReportReachesStoreProgressAndModels) {
  configure("Mode=place\nManagedPartitions=all\nMessageInterval=0\n");
  set_jobs(one_running_job());
  begin();
  ASSERT_TRUE(until([this] { return gate_.beat_age().has_value(); }));
  const JobMessage job_message{.job = {1, 100},
                               .uid = 0,
                               .time = time(nullptr),
                               .restarts = 0,
                               .message = Report{.samples = 640,
                                                 .throughput = 10,
                                                 .batch = 64,
                                                 .loss = {},
                                                 .forward = {},
                                                 .iteration = {},
                                                 .noise = {}}};
  ASSERT_EQ(gate_.post(job_message), PostResult::kTaken);
  const fs::path publish = folder_ / "rubato/publish";
  EXPECT_TRUE(until(
      [&] { return text_of(publish / "plan.json").find("\"samples\":640") != std::string::npos; }));
  EXPECT_TRUE(until([&] {
    return text_of(publish / "models.json").find("\"job_type\":\"resnet50\"") != std::string::npos;
  })) << text_of(publish / "models.json");
  EXPECT_TRUE(until([&] {
    return text_of(publish / "stats.json").find("\"reports_stored\":1") != std::string::npos;
  })) << text_of(publish / "stats.json");
  EXPECT_TRUE(until([&] {
    return text_of(publish / "stats.json").find("\"refused_fits\"") != std::string::npos;
  }));
  test::expect_all_statistics(text_of(publish / "stats.json"));
  EXPECT_TRUE(fs::exists(folder_ / "rubato/rubato.db"));
}

class EndedWorkTest : public LoopTest {
 protected:
  /// How many works the memory has after a job reported and ended.
  std::size_t works() {
    configure("Mode=elastic\nManagedPartitions=all\nMessageInterval=0\n");
    set_jobs(one_running_job());
    begin();
    if (!until([this] { return gate_.beat_age().has_value(); })) return 99;
    const JobMessage report{.job = {1, 100},
                            .uid = 0,
                            .time = time(nullptr),
                            .restarts = 0,
                            .message = Report{.samples = 640,
                                              .throughput = 10,
                                              .batch = 64,
                                              .loss = {},
                                              .forward = {},
                                              .iteration = {},
                                              .noise = {}}};
    if (gate_.post(report) != PostResult::kTaken) return 99;
    const fs::path plan = folder_ / "rubato/publish/plan.json";
    const auto reported = [&] {
      return text_of(plan).find("\"samples\":640") != std::string::npos;
    };
    if (!until(reported)) return 99;
    Snapshot empty = one_running_job();
    empty.jobs.clear();
    set_jobs(empty);
    const int commits = core().commits;
    const auto rounds_made = [&] {
      loop_->wake();
      return core().commits > commits + 2;
    };
    if (!until(rounds_made)) return 99;
    end();
    const auto memory = memory_from_json(text_of(folder_ / "rubato/state.json"), empty);
    return memory ? memory->works.size() : 99;
  }
};

TEST_F(EndedWorkTest, CountsForItsTypeIfTheJobEndedByItself) {
  core().ends_well = true;
  EXPECT_EQ(works(), 1U);
}

// It had more to do.
TEST_F(EndedWorkTest, DoesNotCountIfTheJobWasCancelled) {
  core().ends_well = false;
  EXPECT_EQ(works(), 0U);
}

class SummaryTest : public LoopTest {
 protected:
  /// How many summaries were to be written after a job waited, ran and ended.
  int summaries(const std::string& options) {
    core().summaries = 0;
    configure(options + "\nManagedPartitions=all\n");
    begin();
    if (!until([this] { return gate_.beat_age().has_value(); })) return 99;
    Snapshot ended = one_pending_job();
    ended.jobs.clear();
    for (const Snapshot& next : {one_pending_job(), one_running_job(), ended}) {
      set_jobs(next);
      const int commits = core().commits;
      const int looks = core().looks_reading + core().looks_writing;
      const auto rounds_made = [&] {
        loop_->wake();
        return core().commits > commits + 2 ||
               core().looks_reading + core().looks_writing > looks + 4;
      };
      if (!until(rounds_made)) return 99;
    }
    end();
    return core().summaries;
  }
};

TEST_F(SummaryTest, IsWrittenOnceWhereTheSiteAsksForIt) {
  EXPECT_EQ(summaries("Mode=place\nJobSummary=admin-comment"), 1);
}

TEST_F(SummaryTest, IsNotWrittenByDefault) { EXPECT_EQ(summaries("Mode=place"), 0); }

TEST_F(SummaryTest, IsNotWrittenInModeObserve) {
  EXPECT_EQ(summaries("Mode=observe\nJobSummary=admin-comment"), 0);
}

TEST_F(LoopTest, PrivateDataReplacesWhatWasPublished) {
  set_jobs(one_running_job());
  begin();
  const fs::path open = folder_ / "rubato/publish/snapshot.json";
  const fs::path closed = folder_ / "rubato/private/snapshot.json";
  const auto has_job = [](const fs::path& path) {
    return text_of(path).find("moonshot") != std::string::npos;
  };
  ASSERT_TRUE(until([&] { return has_job(open); }));
  EXPECT_FALSE(fs::exists(closed));

  // From here on every round fails; hidden jobs must still disappear from the files.
  configure("Mode=place\nManagedPartitions=all\nTestInject=throw-round\n");
  ASSERT_TRUE(until([] { return said("scheduling cycle failed"); }));
  Snapshot hiding = one_running_job();
  hiding.private_data.jobs = true;
  set_jobs(hiding);
  loop_->reconfigure();
  EXPECT_TRUE(until([&] { return fs::exists(open) && !has_job(open); }));
  EXPECT_TRUE(until([&] { return has_job(closed); }));
  EXPECT_EQ(fs::status(closed).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(closed.parent_path()).permissions(), fs::perms::owner_all);

  set_jobs(one_running_job());
  configure("Mode=place\nManagedPartitions=all\n");
  EXPECT_TRUE(until([&] { return has_job(open); }));
  EXPECT_TRUE(until([&] { return !fs::exists(closed); }));
}

TEST_F(LoopTest, APauseIsPublishedWithoutTheNameWherePrivateDataHidesSomething) {
  fs::create_directory(folder_ / "rubato");
  std::ofstream(folder_ / "rubato/paused") << "until 4000000000\nsince 100\nby ann\n";
  begin();
  const fs::path open = folder_ / "rubato/publish/stats.json";
  const fs::path closed = folder_ / "rubato/private/stats.json";
  const auto has = [](const fs::path& path, const char* words) {
    return text_of(path).find(words) != std::string::npos;
  };
  const char* const named = R"("paused":true,"pause":{"by":"ann","since":100,"until":4000000000})";
  ASSERT_TRUE(until([&] { return has(open, named); })) << text_of(open);
  EXPECT_TRUE(has(open, R"("mode":"observe")"));
  EXPECT_EQ(core().starts, 0);

  Snapshot hiding = one_pending_job();
  hiding.private_data.jobs = true;
  set_jobs(hiding);
  loop_->reconfigure();
  EXPECT_TRUE(until([&] { return has(closed, named); }));
  EXPECT_TRUE(until([&] {
    return has(open, R"("paused":true,"pause":{"since":100,"until":4000000000})");
  })) << text_of(open);

  fs::remove(folder_ / "rubato/paused");
  EXPECT_TRUE(until([&] { return has(open, R"("paused":false,"heartbeat")"); }));
}

TEST_F(LoopTest, ADiskThatCannotBeWrittenStopsNothing) {
  std::ofstream(folder_ / "rubato") << "a file where the folder should be";
  begin();
  EXPECT_TRUE(until([] { return core().commits > 3; }));
  EXPECT_TRUE(until([] { return said("scheduling goes on without"); }));
}

TEST_F(LoopTest, BeginsAndEndsAnyNumberOfTimesWhileItIsWoken) {
  std::atomic<bool> over{false};
  std::thread noise([&] {
    while (!over) {
      gate_.wake();
      (void)closed();
      std::this_thread::sleep_for(1ms);
    }
  });
  for (int i = 0; i < 50; ++i) {
    const int before = core().commits;
    begin();
    EXPECT_TRUE(until([&] { return core().commits > before; }));
    if (i % 5 == 0) loop_->reconfigure();
    end();
    EXPECT_FALSE(closed()) << "nobody would start managed jobs";
  }
  over = true;
  noise.join();
}

TEST_F(LoopTest, LooksAtEverythingOnceAndThenAtWhatChanges) {
  begin();
  ASSERT_TRUE(until([] { return core().commits > 5; }));
  EXPECT_EQ(core().full_looks, 1);
  loop_->reconfigure();
  EXPECT_TRUE(until([] { return core().full_looks == 2; }));
}

TEST_F(LoopTest, ReadsThePartitionsAnewWhenTheyChange) {
  begin();
  ASSERT_TRUE(until([] { return core().commits > 1; }));
  ASSERT_EQ(core().full_looks, 1);
  core().partitions_changed = 7;
  EXPECT_TRUE(until([] { return core().full_looks == 2; }));
}

TEST_F(LoopTest, WhileNodesCompleteItPeeksAndLooksWhenTheyAreFree) {
  configure("Mode=place\nManagedPartitions=all\n", "60");
  Snapshot snapshot = one_pending_job();
  snapshot.nodes[0].usable = false;
  snapshot.nodes[0].coming = true;
  set_jobs(snapshot);
  core().coming = 1;
  begin();
  ASSERT_TRUE(until([] { return core().peeks > 5; }));
  const int commits = core().commits;
  const int peeks = core().peeks;
  EXPECT_TRUE(until([&] { return core().peeks > peeks + 3; }));
  EXPECT_EQ(core().commits, commits) << "a peek that finds nothing new makes no round";
  set_jobs(one_pending_job());
  core().coming = 0;
  EXPECT_TRUE(until([&] { return core().commits > commits; }));
}

TEST_F(LoopTest, RequestsThatNeverEndDoNotStopIt) {
  core().quiet = false;
  begin();
  EXPECT_TRUE(until([] { return core().commits > 3; }));
}

TEST_F(LoopTest, StartsNothingWhileThereAreAsManyRequestsAsMaxRpcCnt) {
  core().max_rpcs = 50;
  core().rpcs = 49;
  begin();
  ASSERT_TRUE(until([] { return core().commits > 1; }));
  core().rpcs = 50;
  const int cycles = core().cycles;
  // The first of these cycles may have started before.
  ASSERT_TRUE(until([&] { return core().cycles > cycles + 1; }));
  const int commits = core().commits;
  const int looks = core().looks_writing;
  ASSERT_TRUE(until([&] { return core().cycles > cycles + 4; }));
  EXPECT_EQ(core().commits, commits);
  EXPECT_EQ(core().looks_writing, looks);
  core().rpcs = 10;
  EXPECT_TRUE(until([&] { return core().commits > commits; }));
}

TEST_F(LoopTest, DoesNothingOnceSlurmctldShutsDown) {
  begin();
  ASSERT_TRUE(until([] { return core().commits > 0; }));
  core().shutting_down = true;
  const int cycles = core().cycles;
  // The first of these cycles may have started before.
  ASSERT_TRUE(until([&] { return core().cycles > cycles + 1; }));
  const int commits = core().commits;
  ASSERT_TRUE(until([&] { return core().cycles > cycles + 4; }));
  EXPECT_EQ(core().commits, commits);
}

}  // namespace
}  // namespace rubato

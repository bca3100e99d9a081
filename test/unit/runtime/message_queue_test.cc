// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/message_queue.h"

#include <gtest/gtest.h>

#include <thread>

#include "plugin/select/gate.h"

namespace rubato {
namespace {

constexpr Seconds kNow = 1'800'000'000;

JobMessage report(JobId job, Seconds at, std::int64_t samples = 1) {
  return {.job = {job, kNow - 100},
          .uid = 1000,
          .time = at,
          .restarts = 0,
          .message = Report{.samples = samples}};
}

JobMessage ack(JobId job, Seconds at = kNow) {
  return {.job = {job, kNow - 100}, .uid = 1000, .time = at, .restarts = 2, .message = Ack{}};
}

TEST(MessageQueue, LettersComeOutAsTheyWentIn) {
  MessageQueue box;
  const std::vector<JobMessage> job_messages{report(1, kNow, 5), ack(2), report(3, kNow, 7)};
  for (const JobMessage& job_message : job_messages)
    EXPECT_EQ(box.post(job_message, 60), PostResult::kTaken);
  EXPECT_EQ(box.stats().waiting, 3U);
  EXPECT_EQ(box.take(), job_messages);
  EXPECT_TRUE(box.take().empty());
  EXPECT_EQ(box.stats().taken, 3U);
  EXPECT_EQ(box.stats().waiting, 0U);
}

TEST(MessageQueue, ReportsOfAJobAreAnIntervalApart) {
  MessageQueue box;
  EXPECT_EQ(box.post(report(1, kNow), 60), PostResult::kTaken);
  EXPECT_EQ(box.post(report(1, kNow), 60), PostResult::kTooSoon);
  EXPECT_EQ(box.post(report(1, kNow + 53), 60), PostResult::kTooSoon);
  EXPECT_EQ(box.post(report(2, kNow), 60), PostResult::kTaken) << "another job";
  EXPECT_EQ(box.post(ack(1), 60), PostResult::kTaken) << "acks have no rate";
  EXPECT_EQ(box.post(report(1, kNow + 60), 60), PostResult::kTaken);
  EXPECT_EQ(box.stats().too_soon, 2U);
}

TEST(MessageQueue, TheLastReportOfAnEndedJobIsKept) {
  MessageQueue box;
  EXPECT_EQ(box.post(report(1, kNow, 1), 60), PostResult::kTaken);
  EXPECT_EQ(box.post(report(1, kNow + 10, 2), 60), PostResult::kTooSoon);
  EXPECT_EQ(box.post(report(1, kNow + 20, 3), 60), PostResult::kTooSoon);
  EXPECT_EQ(box.post(report(2, kNow + 20, 9), 60), PostResult::kTaken);
  EXPECT_EQ(box.take().size(), 2U);
  const std::vector<JobKey> ended{{1, kNow - 100}, {2, kNow - 100}};
  EXPECT_EQ(box.take_last_reports(ended), std::vector<JobMessage>{report(1, kNow + 20, 3)});
  EXPECT_TRUE(box.take_last_reports(ended).empty());
}

TEST(MessageQueue, AKeptReportTakesTheNextTurnOfItsJob) {
  MessageQueue box;
  EXPECT_EQ(box.post(report(1, kNow, 1), 60), PostResult::kTaken);
  EXPECT_EQ(box.post(report(1, kNow + 10, 2), 60), PostResult::kTooSoon);
  EXPECT_EQ(box.take().size(), 1U);
  EXPECT_EQ(box.post(ack(2, kNow + 60), 60), PostResult::kTaken);
  EXPECT_EQ(box.take(), (std::vector<JobMessage>{ack(2, kNow + 60), report(1, kNow + 10, 2)}));
  EXPECT_EQ(box.post(report(1, kNow + 70, 3), 60), PostResult::kTooSoon) << "had its turn";
  EXPECT_EQ(box.post(report(1, kNow + 120, 4), 60), PostResult::kTaken);
  EXPECT_TRUE(box.take_last_reports({{1, kNow - 100}}).empty()) << "a newer one was taken";
  EXPECT_TRUE(box.take_late_reports().empty());
}

TEST(MessageQueue, EarlyReportsDoNotAddUp) {
  MessageQueue box;
  int taken = 0;
  for (int i = 0; i <= 100; ++i) {
    if (box.post(report(1, kNow + 54 * i), 60) == PostResult::kTaken) ++taken;
    (void)box.take();
  }
  // 5,400 seconds contain 90 intervals; the first report is free.
  EXPECT_LE(taken, 92);
  EXPECT_GE(taken, 60) << "one that is dropped waits for its next turn";
}

TEST(MessageQueue, AJobThatReportsEveryMinuteLosesNone) {
  MessageQueue box;
  for (int i = 0; i < 200; ++i) {
    const Seconds jitter = i * 7919 % 5 - 2;
    EXPECT_EQ(box.post(report(1, kNow + 60 * i + jitter), 60), PostResult::kTaken) << i;
    (void)box.take();
  }
}

TEST(MessageQueue, ARestartedJobAndAClockSetBackAreHeard) {
  MessageQueue box;
  EXPECT_EQ(box.post(report(1, kNow), 60), PostResult::kTaken);
  JobMessage again = report(1, kNow + 1);
  again.job.submit += 50;
  EXPECT_EQ(box.post(again, 60), PostResult::kTaken) << "requeued: another submit time";
  EXPECT_EQ(box.post(report(1, kNow - 3600), 60), PostResult::kTaken) << "an hour earlier";
  EXPECT_EQ(box.post(report(1, kNow - 3599), 60), PostResult::kTooSoon);
}

TEST(MessageQueue, WithoutAnIntervalEveryReportIsTaken) {
  MessageQueue box;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(box.post(report(1, kNow, i), 0), PostResult::kTaken);
}

TEST(MessageQueue, OneJobCannotFillTheBox) {
  MessageQueue box;
  for (int i = 0; i < MessageQueue::kMaxPerJob; ++i)
    EXPECT_EQ(box.post(ack(1), 60), PostResult::kTaken);
  EXPECT_EQ(box.post(ack(1), 60), PostResult::kFull);
  EXPECT_EQ(box.post(ack(2), 60), PostResult::kTaken);
  EXPECT_EQ(box.take().size(), MessageQueue::kMaxPerJob + 1U);
  EXPECT_EQ(box.post(ack(1), 60), PostResult::kTaken) << "room again";
  EXPECT_EQ(box.stats().full, 1U);
}

TEST(MessageQueue, TheBoxHasAnEnd) {
  MessageQueue box;
  for (JobId job = 1; job <= MessageQueue::kMaxWaiting; ++job) {
    ASSERT_EQ(box.post(report(job, kNow), 60), PostResult::kTaken);
  }
  EXPECT_EQ(box.post(report(999999, kNow), 60), PostResult::kFull);
  (void)box.take();
  // A message that did not fit does not count as a report of its job.
  EXPECT_EQ(box.post(report(999999, kNow), 60), PostResult::kTaken);
}

TEST(MessageQueue, ThreadsPostAndTakeSideBySide) {
  MessageQueue box;
  std::size_t seen = 0;
  std::thread reader([&] {
    while (seen < 4000) seen += box.take().size();
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&box, t] {
      for (int i = 0; i < 1000; ++i) {
        const auto job = static_cast<JobId>(t * 1000 + i + 1);
        while (box.post(report(job, kNow), 60) != PostResult::kTaken) std::this_thread::yield();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  reader.join();
  EXPECT_EQ(seen, 4000U);
}

TEST(MessageQueue, NothingIsPostedWhereNobodyReads) {
  Gate gate;
  EXPECT_EQ(gate.post(ack(1)), PostResult::kOff) << "no configuration";
  gate.set_config(std::make_shared<const Config>());
  EXPECT_EQ(gate.post(ack(1)), PostResult::kOff) << "no heartbeat";
  gate.beat();
  EXPECT_EQ(gate.post(ack(1)), PostResult::kTaken);
  EXPECT_EQ(gate.post(report(1, kNow)), PostResult::kTaken);
  EXPECT_EQ(gate.post(report(1, kNow + 30)), PostResult::kTooSoon) << "60 seconds by default";
  auto config = std::make_shared<Config>();
  config->message_interval = 10;
  gate.set_config(config);
  EXPECT_EQ(gate.post(report(2, kNow)), PostResult::kTaken);
  EXPECT_EQ(gate.post(report(2, kNow + 10)), PostResult::kTaken);
  EXPECT_EQ(gate.take_job_messages().size(), 4U);
  gate.count_message_fault(MessageFault::kForeign);
  EXPECT_EQ(gate.message_stats().off, 2U);
  EXPECT_EQ(gate.message_stats().foreign, 1U);
  gate.note_hints({.jobs = 2, .refused = 1, .updates = 0, .updates_refused = 0});
  gate.note_hints({.jobs = 1, .refused = 0, .updates = 4, .updates_refused = 3});
  EXPECT_EQ(gate.hint_stats().jobs, 3U);
  EXPECT_EQ(gate.hint_stats().updates_refused, 3U);
}

}  // namespace
}  // namespace rubato

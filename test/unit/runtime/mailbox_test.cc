// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/mailbox.h"

#include <gtest/gtest.h>

#include <thread>

#include "plugin/select/gate.h"

namespace rubato {
namespace {

constexpr Seconds kNow = 1'800'000'000;

Letter report(JobId job, Seconds at, std::int64_t samples = 1) {
  return {.job = {job, kNow - 100},
          .uid = 1000,
          .time = at,
          .restarts = 0,
          .message = Report{.samples = samples}};
}

Letter ack(JobId job, Seconds at = kNow) {
  return {.job = {job, kNow - 100}, .uid = 1000, .time = at, .restarts = 2, .message = Ack{}};
}

TEST(Mailbox, LettersComeOutAsTheyWentIn) {
  Mailbox box;
  const std::vector<Letter> letters{report(1, kNow, 5), ack(2), report(3, kNow, 7)};
  for (const Letter& letter : letters) EXPECT_EQ(box.post(letter, 60), Posted::kTaken);
  EXPECT_EQ(box.stats().waiting, 3U);
  EXPECT_EQ(box.take(), letters);
  EXPECT_TRUE(box.take().empty());
  EXPECT_EQ(box.stats().taken, 3U);
  EXPECT_EQ(box.stats().waiting, 0U);
}

TEST(Mailbox, ReportsOfAJobAreAnIntervalApart) {
  Mailbox box;
  EXPECT_EQ(box.post(report(1, kNow), 60), Posted::kTaken);
  EXPECT_EQ(box.post(report(1, kNow), 60), Posted::kTooSoon);
  EXPECT_EQ(box.post(report(1, kNow + 53), 60), Posted::kTooSoon);
  EXPECT_EQ(box.post(report(2, kNow), 60), Posted::kTaken) << "another job";
  EXPECT_EQ(box.post(ack(1), 60), Posted::kTaken) << "acks have no rate";
  EXPECT_EQ(box.post(report(1, kNow + 60), 60), Posted::kTaken);
  EXPECT_EQ(box.stats().too_soon, 2U);
}

TEST(Mailbox, EarlyReportsDoNotAddUp) {
  Mailbox box;
  int taken = 0;
  for (int i = 0; i <= 100; ++i) {
    if (box.post(report(1, kNow + 54 * i), 60) == Posted::kTaken) ++taken;
    (void)box.take();
  }
  // 5,400 seconds hold 90 intervals; the first report is free.
  EXPECT_LE(taken, 92);
  EXPECT_GE(taken, 60) << "one that is dropped waits for its next turn";
}

TEST(Mailbox, AJobThatReportsEveryMinuteLosesNone) {
  Mailbox box;
  for (int i = 0; i < 200; ++i) {
    const Seconds jitter = i * 7919 % 5 - 2;
    EXPECT_EQ(box.post(report(1, kNow + 60 * i + jitter), 60), Posted::kTaken) << i;
    (void)box.take();
  }
}

TEST(Mailbox, ARestartedJobAndAClockSetBackAreHeard) {
  Mailbox box;
  EXPECT_EQ(box.post(report(1, kNow), 60), Posted::kTaken);
  Letter again = report(1, kNow + 1);
  again.job.submit += 50;
  EXPECT_EQ(box.post(again, 60), Posted::kTaken) << "requeued: another submit time";
  EXPECT_EQ(box.post(report(1, kNow - 3600), 60), Posted::kTaken) << "an hour earlier";
  EXPECT_EQ(box.post(report(1, kNow - 3599), 60), Posted::kTooSoon);
}

TEST(Mailbox, WithoutAnIntervalEveryReportIsTaken) {
  Mailbox box;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(box.post(report(1, kNow, i), 0), Posted::kTaken);
}

TEST(Mailbox, OneJobCannotFillTheBox) {
  Mailbox box;
  for (int i = 0; i < Mailbox::kMostOfJob; ++i) EXPECT_EQ(box.post(ack(1), 60), Posted::kTaken);
  EXPECT_EQ(box.post(ack(1), 60), Posted::kFull);
  EXPECT_EQ(box.post(ack(2), 60), Posted::kTaken);
  EXPECT_EQ(box.take().size(), Mailbox::kMostOfJob + 1U);
  EXPECT_EQ(box.post(ack(1), 60), Posted::kTaken) << "room again";
  EXPECT_EQ(box.stats().full, 1U);
}

TEST(Mailbox, TheBoxHasAnEnd) {
  Mailbox box;
  for (JobId job = 1; job <= Mailbox::kMostWaiting; ++job) {
    ASSERT_EQ(box.post(report(job, kNow), 60), Posted::kTaken);
  }
  EXPECT_EQ(box.post(report(999999, kNow), 60), Posted::kFull);
  (void)box.take();
  // What did not fit was not counted as a report of its job.
  EXPECT_EQ(box.post(report(999999, kNow), 60), Posted::kTaken);
}

TEST(Mailbox, ThreadsPostAndTakeSideBySide) {
  Mailbox box;
  std::size_t seen = 0;
  std::thread reader([&] {
    while (seen < 4000) seen += box.take().size();
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&box, t] {
      for (int i = 0; i < 1000; ++i) {
        const auto job = static_cast<JobId>(t * 1000 + i + 1);
        while (box.post(report(job, kNow), 60) != Posted::kTaken) std::this_thread::yield();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  reader.join();
  EXPECT_EQ(seen, 4000U);
}

TEST(Mailbox, NothingIsPostedWhereNobodyReads) {
  Gate gate;
  EXPECT_EQ(gate.post(ack(1)), Posted::kOff) << "no configuration";
  gate.set_config(std::make_shared<const Config>());
  EXPECT_EQ(gate.post(ack(1)), Posted::kOff) << "no heartbeat";
  gate.beat();
  EXPECT_EQ(gate.post(ack(1)), Posted::kTaken);
  EXPECT_EQ(gate.post(report(1, kNow)), Posted::kTaken);
  EXPECT_EQ(gate.post(report(1, kNow + 30)), Posted::kTooSoon) << "60 seconds by default";
  auto config = std::make_shared<Config>();
  config->message_interval = 10;
  gate.set_config(config);
  EXPECT_EQ(gate.post(report(2, kNow)), Posted::kTaken);
  EXPECT_EQ(gate.post(report(2, kNow + 10)), Posted::kTaken);
  EXPECT_EQ(gate.take_letters().size(), 4U);
  gate.note_mail(MailFault::kForeign);
  EXPECT_EQ(gate.mail_stats().off, 2U);
  EXPECT_EQ(gate.mail_stats().foreign, 1U);
  gate.note_hints({.jobs = 2, .refused = 1, .updates = 0, .updates_refused = 0});
  gate.note_hints({.jobs = 1, .refused = 0, .updates = 4, .updates_refused = 3});
  EXPECT_EQ(gate.hint_stats().jobs, 3U);
  EXPECT_EQ(gate.hint_stats().updates_refused, 3U);
}

}  // namespace
}  // namespace rubato

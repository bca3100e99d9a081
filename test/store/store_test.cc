// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "test/store/fault_vfs.h"
#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::entries_from;
using test::eventually;
using test::kNow;
using test::open_reader;
using test::options_in;
using test::sample_of_job;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string joined(const std::vector<StoreMessage>& messages) {
  std::string text;
  for (const StoreMessage& one : messages) text += one.text + "\n";
  return text;
}

class StoreTest : public testing::Test {
 protected:
  ~StoreTest() override { test::release_hung(); }

  std::unique_ptr<Store> start() { return std::make_unique<Store>(options_, clock_); }

  /// Duration of `work`.
  template <typename Work>
  static milliseconds time_of(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
  }

  static void push_all(Store& store, const std::vector<AnyRecord>& entries) {
    for (const AnyRecord& entry : entries) store.push(entry);
  }

  static void expect_sums(const StoreStats& stats, std::int64_t pushed) {
    EXPECT_EQ(stats.accepted + stats.dropped, pushed);
    EXPECT_EQ(stats.written + stats.rejected + stats.lost + stats.waiting, stats.accepted);
  }

  test::TempFolder folder_;
  StoreOptions options_ = options_in(folder_);
  std::shared_ptr<test::ManualClock> clock_ = std::make_shared<test::ManualClock>(kNow);
};

TEST_F(StoreTest, WhatWasPushedIsThereAfterStop) {
  auto store = start();
  push_all(*store, entries_from(0, 100));
  EXPECT_TRUE(store->stop(seconds(30)));
  const StoreStats stats = store->stats();
  EXPECT_EQ(stats.state, StoreState::kStopped);
  EXPECT_EQ(stats.written, 100);
  EXPECT_EQ(stats.waiting, 0);
  EXPECT_EQ(stats.flagged, 0);
  EXPECT_EQ(stats.journal_mode, "wal");
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 100);
  EXPECT_FALSE(test::exists(folder_.store() + "/store.lock"));
}

TEST_F(StoreTest, FlushedRecordsCanBeReadWhileItRuns) {
  options_.batch_interval = seconds(60);  // flush does not wait this long
  auto store = start();
  for (int round = 1; round <= 3; ++round) {
    push_all(*store, entries_from(round * 10 - 10, 10));
    ASSERT_TRUE(store->flush(seconds(30)));
    EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, round * 10);
  }
  EXPECT_EQ(store->stats().batches, 3);
}

TEST_F(StoreTest, FullBatchIsWrittenBeforeTheInterval) {
  options_.batch_interval = seconds(60);
  options_.batch_size = 50;
  auto store = start();
  push_all(*store, entries_from(0, 50));
  EXPECT_TRUE(eventually([&] { return store->stats().written == 50; }));
}

TEST_F(StoreTest, SmallBatchIsWrittenAfterTheInterval) {
  auto store = start();
  store->push(sample_of_job(1));
  EXPECT_TRUE(eventually([&] { return store->stats().written == 1; }));
}

TEST_F(StoreTest, PushesFromManyThreadsAddUp) {
  options_.queue_capacity = 500;
  auto store = start();
  std::vector<std::thread> threads;
  for (JobId job = 1; job <= 4; ++job) {
    threads.emplace_back([&store, job] {
      for (int i = 0; i < 2000; ++i) {
        store->push(sample_of_job(job, i));
        if (i % 100 == 0) static_cast<void>(store->stats());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(store->stop(seconds(30)));
  const StoreStats stats = store->stats();
  expect_sums(stats, 8000);
  EXPECT_EQ(stats.waiting, 0);
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, stats.written);
}

TEST_F(StoreTest, PushAfterStopIsDropped) {
  auto store = start();
  EXPECT_TRUE(store->stop(seconds(30)));
  EXPECT_FALSE(store->push(sample_of_job(1)));
  EXPECT_EQ(store->stats().dropped, 1);
  EXPECT_TRUE(store->stop());
}

TEST_F(StoreTest, ItsThreadTakesNoSignal) {
  ASSERT_TRUE(eventually([] { return test::writer_threads().empty(); }));
  auto store = start();
  store->push(sample_of_job(1));
  ASSERT_TRUE(store->flush(seconds(30)));
  const auto threads = test::writer_threads();
  ASSERT_EQ(threads.size(), 1U);
  const std::string key = "SigBlk:\t";
  const std::size_t at = threads[0].find(key);
  ASSERT_NE(at, std::string::npos);
  const auto blocked = std::stoull(threads[0].substr(at + key.size(), 16), nullptr, 16);
  for (const int signal : {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGPROF}) {
    EXPECT_TRUE((blocked >> (signal - 1)) & 1U) << "signal " << signal;
  }
  sigset_t here;
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, nullptr, &here), 0);
  EXPECT_FALSE(::sigismember(&here, SIGTERM)) << "the owner's own mask is as before";
}

TEST_F(StoreTest, SecondProcessRunsWithoutSaysSoAndTakesOverLater) {
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  const pid_t child = test::fork_alone();
  if (child == 0) {
    Store first(options_, clock_);
    first.push(sample_of_job(1));
    char byte = first.flush(seconds(30)) ? 'y' : 'n';
    if (::write(to_parent[1], &byte, 1) != 1 || ::read(to_child[0], &byte, 1) != 1) ::_exit(1);
    ::_exit(0);  // as by kill -9: the lock file stays
  }
  char byte = 0;
  ASSERT_EQ(::read(to_parent[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  auto second = start();
  second->push(sample_of_job(2));
  EXPECT_TRUE(eventually([&] { return second->stats().state == StoreState::kOff; }));
  EXPECT_THAT(joined(second->take_messages()),
              AllOf(HasSubstr("running without the store: "),
                    HasSubstr("process " + std::to_string(child) + " on host"),
                    HasSubstr("trying again every 0.02 s")));
  ASSERT_EQ(::write(to_child[1], &byte, 1), 1);
  EXPECT_TRUE(eventually([&] { return second->stats().written == 1; }));
  const auto messages = second->take_messages();
  EXPECT_EQ(joined(messages), "the store is open again\n");
  EXPECT_FALSE(messages.at(0).trouble) << "news, no trouble";
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 2);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  for (const int file : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) ::close(file);
}

TEST_F(StoreTest, FailedOpenIsSaidOnceAndTriedAgain) {
  options_.folder = folder_.path() + "/later/rubato";
  auto store = start();
  store->push(sample_of_job(1));
  EXPECT_TRUE(eventually([&] { return store->stats().failures >= 3; }));
  const auto messages = store->take_messages();
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_TRUE(messages[0].trouble);
  EXPECT_THAT(messages[0].text, HasSubstr("/later/rubato: No such file or directory"));
  EXPECT_EQ(store->stats().state, StoreState::kOff);
  std::filesystem::create_directory(folder_.path() + "/later");
  EXPECT_TRUE(eventually([&] { return store->stats().written == 1; }));
  EXPECT_EQ(store->stats().state, StoreState::kReady);
  EXPECT_EQ(store->stats().trouble, "");
}

TEST_F(StoreTest, OffUntilTheEndLosesAndCounts) {
  options_.folder = folder_.path() + "/not/there";
  options_.queue_capacity = 10;
  auto store = start();
  EXPECT_TRUE(eventually([&] { return store->stats().state == StoreState::kOff; }));
  // The first failed attempt has an empty batch; later ones may have ten more.
  push_all(*store, entries_from(0, 40));
  EXPECT_LT(time_of([&] { EXPECT_TRUE(store->stop(seconds(30))); }), seconds(5));
  const StoreStats stats = store->stats();
  expect_sums(stats, 40);
  EXPECT_EQ(stats.written, 0);
  EXPECT_EQ(stats.lost, stats.accepted);
  EXPECT_GE(stats.dropped, 20);
}

TEST_F(StoreTest, FullDiskKeepsTheBatchDropsTheRestAndGoesOn) {
  options_.vfs = test::fault_vfs();
  options_.queue_capacity = 50;
  auto store = start();
  ASSERT_TRUE(eventually([&] { return store->stats().state == StoreState::kReady; }));
  test::set_fault(test::FaultPoint::kFullWrite, 1, test::FaultKind::kError, true);
  push_all(*store, entries_from(0, 50));
  EXPECT_TRUE(eventually([&] { return store->stats().state == StoreState::kOff; }));
  EXPECT_THAT(store->stats().trouble, HasSubstr("database or disk is full"));
  push_all(*store, entries_from(50, 200));
  EXPECT_GT(store->stats().dropped, 0);
  test::clear_fault();
  EXPECT_TRUE(store->stop(seconds(30)));
  const StoreStats stats = store->stats();
  expect_sums(stats, 250);
  EXPECT_EQ(stats.lost, 0);
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, stats.written);
  EXPECT_GE(stats.written, 50);
}

TEST_F(StoreTest, ReaderInTheWayCostsTimeAndNoRecord) {
  options_.local = false;
  options_.busy_timeout = milliseconds(1);
  auto store = start();
  push_all(*store, entries_from(0, 10));
  ASSERT_TRUE(store->flush(seconds(30)));
  {
    SQLite::Database reading(folder_.database(), SQLite::OPEN_READONLY, 5000);
    SQLite::Statement query(reading, "SELECT id FROM samples");
    ASSERT_TRUE(query.executeStep());  // holds its lock until it is destroyed
    push_all(*store, entries_from(10, 10));
    EXPECT_TRUE(eventually([&] { return store->stats().state == StoreState::kOff; }));
    EXPECT_THAT(store->stats().trouble, HasSubstr("database is locked"));
  }
  EXPECT_TRUE(store->flush(seconds(30)));
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 20);
}

/// A clock that throws at first, as any code of the thread may if memory is exhausted.
class BrokenClock : public Clock {
 public:
  [[nodiscard]] Seconds now() const override {
    if (broken) throw std::bad_alloc();
    return test::kNow;
  }
  std::atomic<bool> broken{true};
};

TEST_F(StoreTest, ExceptionInTheThreadTurnsItOffUntilTheNextRetry) {
  const auto clock = std::make_shared<BrokenClock>();
  Store store(options_, clock);
  EXPECT_TRUE(eventually([&] { return store.stats().state == StoreState::kOff; }));
  EXPECT_TRUE(store.push(sample_of_job(1)));
  EXPECT_THAT(joined(store.take_messages()), HasSubstr("running without the store: std::bad"));
  clock->broken = false;
  EXPECT_TRUE(eventually([&] { return store.stats().written == 1; }));
  EXPECT_EQ(store.stats().state, StoreState::kReady);
  EXPECT_THAT(joined(store.take_messages()), HasSubstr("the store is open again"));
  EXPECT_TRUE(store.stop());
}

TEST_F(StoreTest, RemovedDatabaseIsBegunAnewAndWhatComesIsNotLost) {
  auto store = start();
  push_all(*store, entries_from(0, 20));
  ASSERT_TRUE(store->flush(seconds(30)));
  ASSERT_TRUE(std::filesystem::remove(folder_.database()));
  push_all(*store, entries_from(20, 10));
  ASSERT_TRUE(store->flush(seconds(30)));
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 10);
  EXPECT_THAT(joined(store->take_messages()),
              HasSubstr("rubato.db: removed or replaced by another file while it was open"));
  const StoreStats stats = store->stats();
  EXPECT_EQ(stats.state, StoreState::kReady);
  EXPECT_EQ(stats.opened, 2);
  expect_sums(stats, 30);
  EXPECT_EQ(stats.written, 30);
}

TEST_F(StoreTest, RemovedFolderIsSeenWithoutARecord) {
  auto store = start();
  ASSERT_TRUE(eventually([&] { return store->stats().state == StoreState::kReady; }));
  std::filesystem::remove_all(folder_.store());
  EXPECT_TRUE(eventually([&] { return store->stats().opened == 2; }));
  EXPECT_TRUE(test::exists(folder_.database()));
  EXPECT_EQ(store->take_messages().size(), 1U);
}

TEST_F(StoreTest, DatabaseThatWasPutInItsPlaceIsTakenWithoutTheOldJournal) {
  const std::string copy = folder_.path() + "/copy.db";
  auto store = start();
  push_all(*store, entries_from(0, 20));
  ASSERT_TRUE(store->flush(seconds(30)));
  store->request_copy(copy, 0600);
  ASSERT_TRUE(eventually([&] { return store->stats().copies == 1; }));
  push_all(*store, entries_from(20, 500));
  ASSERT_TRUE(store->flush(seconds(30)));
  std::filesystem::rename(copy, folder_.database());
  push_all(*store, entries_from(600, 5));
  ASSERT_TRUE(store->flush(seconds(30)));
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 25);
  EXPECT_THAT(joined(store->take_messages()), testing::Not(HasSubstr("set aside")));
}

TEST_F(StoreTest, CorruptFileIsSetAsideAndSaid) {
  std::filesystem::create_directory(folder_.store());
  std::ofstream(folder_.database()) << std::string(5000, 'x');
  auto store = start();
  store->push(sample_of_job(1));
  EXPECT_TRUE(store->flush(seconds(30)));
  EXPECT_THAT(joined(store->take_messages()),
              HasSubstr("rubato.db.corrupt-20260101T000000Z, started anew"));
}

TEST_F(StoreTest, CorruptionWhileItRunsIsFoundAndTheBatchNotLost) {
  options_.local = false;
  auto store = start();
  store->push(entries_from(0, 1)[0]);
  ASSERT_TRUE(store->flush(seconds(30)));
  push_all(*store, entries_from(1, 2999));
  ASSERT_TRUE(store->flush(seconds(30)));  // and the retention after the first batch is done
  {
    // From the change counter on, so that the open connection drops its cache.
    std::fstream file(folder_.database(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(24);
    file << std::string(4096 * 5, '\x5A');
  }
  push_all(*store, entries_from(3000, 100));
  EXPECT_TRUE(eventually([&] { return store->stats().written == 3100; })) << store->stats().trouble;
  EXPECT_THAT(joined(store->take_messages()), HasSubstr("started anew"));
  // The backup after the first batch has one sample; the file itself has lost its first page.
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 101);
}

TEST_F(StoreTest, RetentionRunsByClockAndByCount) {
  options_.batch_interval = seconds(60);  // one batch per flush
  options_.retention.samples = 10;
  options_.retention.every = 3600;
  options_.retention.after = 100;
  auto store = start();
  const auto write = [&](int first, int count) {
    push_all(*store, entries_from(first, count));
    EXPECT_TRUE(store->flush(seconds(30)));
  };
  const auto removed = [&](std::int64_t count) {
    return eventually([&] { return store->stats().removed == count; });
  };
  write(0, 20);
  EXPECT_TRUE(removed(10)) << "at the start";
  write(20, 20);
  // Called twice at the open and after each batch: after the second call, its work is done.
  EXPECT_TRUE(eventually([&] { return clock_->asked() == 4; }));
  EXPECT_TRUE(removed(10)) << "not before its time";
  clock_->set(kNow + 3600);
  write(41, 1);
  EXPECT_TRUE(removed(31)) << "after an hour";
  write(100, 99);
  write(200, 1);
  EXPECT_TRUE(removed(131)) << "after a hundred records";
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, 10);
}

TEST_F(StoreTest, CopyIsMadeOnRequest) {
  auto store = start();
  push_all(*store, entries_from(0, 20));
  ASSERT_TRUE(store->flush(seconds(30)));
  const std::string copy = folder_.path() + "/models.db";
  store->request_copy(copy, 0644);
  EXPECT_TRUE(eventually([&] { return store->stats().copies == 1; }));
  EXPECT_EQ(open_reader(copy).counts().value().samples, 20);
  store->request_copy(folder_.path() + "/no/models.db");
  std::string text;
  EXPECT_TRUE(eventually([&] {
    text += joined(store->take_messages());
    return !text.empty();
  }));
  EXPECT_THAT(text, AllOf(HasSubstr("copy of the store"), HasSubstr("/no/models.db")));
}

/// The thread hangs in one kind of call; the owner must only notice it in the counts.
class HungDisk : public StoreTest, public testing::WithParamInterface<test::FaultPoint> {};

TEST_P(HungDisk, OwnerNeverWaits) {
  options_.vfs = test::fault_vfs();
  options_.queue_capacity = 100;
  options_.local = GetParam() != test::FaultPoint::kDelete;  // a journal that is deleted
  test::set_fault(GetParam(), 1, test::FaultKind::kHang);
  auto store = start();
  push_all(*store, entries_from(0, 50));
  ASSERT_TRUE(eventually([] { return test::hung_calls() == 1; })) << to_string(GetParam());
  const auto pushing = time_of([&] { push_all(*store, entries_from(50, 10000)); });
  EXPECT_LT(pushing, seconds(5));  // 0.5 ms per push, under sanitizers on a loaded machine
  store->request_copy(folder_.path() + "/copy.db");
  EXPECT_FALSE(store->flush(milliseconds(20)));
  const auto stopping = time_of([&] { EXPECT_FALSE(store->stop()); });
  EXPECT_GE(stopping, milliseconds(490));
  EXPECT_LT(stopping, milliseconds(3000));
  const StoreStats stats = store->stats();
  EXPECT_EQ(stats.state, StoreState::kAbandoned);
  expect_sums(stats, 10050);
  EXPECT_GE(stats.dropped, 9850);
  store.reset();
  clock_.reset();  // the abandoned thread shares ownership of all it needs
  EXPECT_TRUE(test::exists(folder_.store() + "/store.lock"));
  test::release_hung();
  EXPECT_TRUE(eventually([&] { return !test::exists(folder_.store() + "/store.lock"); }));
  EXPECT_EQ(open_reader(folder_.database()).counts().value().samples, stats.accepted);
}

INSTANTIATE_TEST_SUITE_P(Points, HungDisk,
                         testing::Values(test::FaultPoint::kOpen, test::FaultPoint::kRead,
                                         test::FaultPoint::kWrite, test::FaultPoint::kSync,
                                         test::FaultPoint::kLock, test::FaultPoint::kFileSize,
                                         test::FaultPoint::kDelete, test::FaultPoint::kAccess,
                                         test::FaultPoint::kShmMap, test::FaultPoint::kShmLock),
                         [](const auto& instance) {
                           std::string name = to_string(instance.param);
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace rubato::store

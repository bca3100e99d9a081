// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations of the store and of the workers fail, those of SQLite too.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <variant>

#include "lib/base/background_worker.h"
#include "lib/store/lock_file.h"
#include "lib/store/session.h"
#include "lib/store/store.h"
#include "test/store/store_support.h"
#include "test/support/failing_new.h"

namespace rubato {
namespace {

using namespace std::chrono_literals;
using store::LockFile;
using store::Session;
using test::fail_each;

std::size_t open_files() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(Allocation, OfTheLockFails) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/lock";
  const store::LockOwner self = store::this_process();
  const std::size_t before = open_files();
  for (const bool local : {true, false}) {
    EXPECT_GT(fail_each(
                  [&] {
                    auto lock = LockFile::take(path, local, self);
                    if (lock) (void)lock->renew(SteadyTime{} + 1h);
                  },
                  [&] {
                    // An open file would hold the kernel lock.
                    EXPECT_TRUE(LockFile::take(path, local, self));
                    EXPECT_EQ(open_files(), before);
                  }),
              5);
  }
}

TEST(Allocation, OfASessionFails) {
  const test::TempFolder folder;
  store::StoreOptions options = test::options_in(folder);
  options.local = true;
  const auto entries = test::entries_from(0, 20);
  const std::size_t before = open_files();
  const int calls = fail_each(
      [&] {
        std::vector<std::string> notes;
        auto session = Session::open(options, test::kNow, notes);
        if (!session) return;
        if (!(*session)->write(entries)) return;
        (void)(*session)->retain(test::kNow);
        (void)(*session)->copy_to(folder.path() + "/copy");
      },
      [&] { EXPECT_EQ(open_files(), before); });
  EXPECT_GT(calls, 200);
  std::vector<std::string> notes;
  const auto session = Session::open(options, test::kNow, notes);
  ASSERT_TRUE(session) << session.error().text;
  EXPECT_TRUE(notes.empty()) << notes.front();
  EXPECT_TRUE((*session)->write(entries));
}

TEST(Allocation, OfASessionWhoseFileWasReplacedFails) {
  const test::TempFolder folder;
  store::StoreOptions options = test::options_in(folder);
  options.local = true;
  std::vector<std::string> notes;
  auto session = Session::open(options, test::kNow, notes);
  ASSERT_TRUE(session) << session.error().text;
  std::filesystem::remove(folder.database());
  {
    const test::FailingNew failing(1, test::kAlways);
    session->reset();  // the destructor removes the journal that SQLite leaves
  }
  EXPECT_FALSE(test::exists(folder.database() + "-wal"));
}

TEST(Allocation, InAllThreadsFailsAndTheStoreOpensAgain) {
  const test::TempFolder folder;
  store::StoreOptions options = test::options_in(folder);
  options.retry_interval = 20ms;
  store::Store store(options, std::make_shared<SystemClock>());
  for (const std::uint64_t one_in : {2000, 200, 20, 2}) {
    const std::uint64_t failed = test::failed_in_all_threads();
    test::fail_in_all_threads(one_in);
    const auto end = std::chrono::steady_clock::now() + 300ms;
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      try {
        (void)store.push(test::sample_of_job(1 + i % 7, i));
      } catch (const std::bad_alloc&) {
      }
      std::this_thread::yield();
    }
    test::fail_in_all_threads(0);
    EXPECT_GT(test::failed_in_all_threads(), failed);
    EXPECT_TRUE(test::eventually([&] { return store.stats().state == store::StoreState::kReady; }))
        << one_in << ": " << store.stats().trouble;
    EXPECT_TRUE(store.flush(10s));
  }
  EXPECT_GT(store.stats().failures, 0);
  EXPECT_GT(store.stats().written, 0);
  EXPECT_TRUE(store.stop(10s));
  EXPECT_EQ(store.stats().lost, 0);
}

/// Keeps the latest number.
class OneNumber {
 public:
  using Offer = std::string;
  using Outcome = std::monostate;
  static constexpr bool kDrain = false;

  void put(std::string text) { next_ = std::move(text); }
  [[nodiscard]] std::optional<SteadyTime> due() const {
    return next_ ? std::optional(SteadyTime{}) : std::nullopt;
  }
  [[nodiscard]] std::string take() {
    const std::string copy = *next_;
    next_.reset();
    return copy;
  }
  void finish(Outcome /*outcome*/) {}

 private:
  std::optional<std::string> next_;
};

class FailsTwice {
 public:
  using Inbox = OneNumber;
  explicit FailsTwice(std::shared_ptr<std::atomic<int>> worked) : worked_(std::move(worked)) {}

  std::monostate work(const std::string& text) {
    if (text == "fail") throw std::bad_alloc();
    ++*worked_;
    return {};
  }
  static std::monostate failed(const char* /*what*/) { throw std::bad_alloc(); }

 private:
  std::shared_ptr<std::atomic<int>> worked_;
};

TEST(Allocation, OfAWorkersTaskAndItsHandlerFails) {
  auto worked = std::make_shared<std::atomic<int>>(0);
  BackgroundWorker<FailsTwice> worker({.name = "fails_twice"}, std::make_shared<SystemClock>(),
                                      std::make_unique<FailsTwice>(worked));
  worker.offer("fail");
  ASSERT_TRUE(test::eventually([&] { return worker.failures() >= 2; }));
  worker.offer("work");
  EXPECT_TRUE(test::eventually([&] { return *worked == 1; }));
  worker.stop();
  EXPECT_TRUE(worker.wait(std::chrono::steady_clock::now() + 10s));
}

}  // namespace
}  // namespace rubato

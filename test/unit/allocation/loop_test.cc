// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations of all threads of the loop fail, with a fake slurmctld: it goes on when they do not.
#include "plugin/sched/loop.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "plugin/select/gate.h"
#include "test/support/failing_new.h"
#include "test/support/fake_core.h"
#include "test/support/small_snapshot.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class FailingLoop : public ::testing::Test {
 protected:
  FailingLoop() {
    std::string name = ::testing::TempDir() + "/failing-loopXXXXXX";
    folder_ = mkdtemp(name.data());
    test::core().folder = folder_.string();
    test::core().snapshot = test::small_snapshot(5);
    std::ofstream(folder_ / "rubato.conf")
        << "Mode=place\nManagedPartitions=all\nRoundInterval=0.1\nPublishInterval=0.1\n";
  }
  ~FailingLoop() override {
    test::fail_in_all_threads(0);
    if (thread_.joinable()) {
      loop_->stop();
      thread_.join();
    }
    loop_.reset();
    fs::remove_all(folder_);
  }

  void begin() {
    loop_ = std::make_unique<Loop>(gate_);
    thread_ = std::thread([this] { loop_->run(); });
  }
  static bool until(const std::function<bool()>& what) {
    for (int i = 0; i < 4000; ++i) {
      if (what()) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }
  [[nodiscard]] bool closed() { return !gate_.stats().open; }
  [[nodiscard]] bool publishes() {
    const fs::path file = folder_ / "rubato/publish/stats.json";
    std::error_code none;
    const auto before = fs::last_write_time(file, none);
    return until([&] {
      std::error_code error;
      const auto now = fs::last_write_time(file, error);
      return !error && now != before;
    });
  }

  fs::path folder_;
  Gate gate_;
  std::unique_ptr<Loop> loop_;
  std::thread thread_;
};

TEST_F(FailingLoop, GoesOnWhenAllocationsDoNotFailAnyMore) {
  begin();
  ASSERT_TRUE(until([this] { return closed(); }));
  ASSERT_TRUE(publishes());
  for (const std::uint64_t one_in : {1000, 100, 30, 3, 1}) {
    SCOPED_TRACE(one_in);
    const std::uint64_t failed = test::failed_in_all_threads();
    test::fail_in_all_threads(one_in);
    const auto end = std::chrono::steady_clock::now() + 500ms;
    for (int i = 0;
         std::chrono::steady_clock::now() < end || test::failed_in_all_threads() < failed + 3;
         ++i) {
      loop_->wake();
      if (i % 20 == 0) loop_->reconfigure();
      std::this_thread::sleep_for(2ms);
    }
    test::fail_in_all_threads(0);
    EXPECT_TRUE(until([this] { return closed(); })) << "the gate stays open";
    const int commits = test::core().commits;
    EXPECT_TRUE(until([&] { return test::core().commits > commits; }));
    EXPECT_TRUE(publishes());
  }
}

TEST_F(FailingLoop, BeginsWhenAllocationsDoNotFailAnyMore) {
  for (const std::uint64_t one_in : {100, 20}) {
    SCOPED_TRACE(one_in);
    fs::create_directories(folder_ / "rubato");
    test::fail_in_all_threads(one_in);
    for (int tries = 0; loop_ == nullptr && tries < 100000; ++tries) {
      try {
        loop_ = std::make_unique<Loop>(gate_);
      } catch (const std::bad_alloc&) {
      }
    }
    ASSERT_NE(loop_, nullptr);
    std::this_thread::sleep_for(10ms);
    test::fail_in_all_threads(0);
    thread_ = std::thread([this] { loop_->run(); });
    test::fail_in_all_threads(one_in);
    std::this_thread::sleep_for(300ms);
    test::fail_in_all_threads(0);
    EXPECT_TRUE(until([this] { return closed(); }));
    EXPECT_TRUE(publishes());
    test::fail_in_all_threads(one_in);  // while it ends, too
    loop_->stop();
    thread_.join();
    test::fail_in_all_threads(0);
    loop_.reset();
    gate_.hand_over(false);
  }
}

}  // namespace
}  // namespace rubato

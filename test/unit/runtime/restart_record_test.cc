// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/restart_record.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "lib/policy/asked_resize.h"
#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_consenting;
using test::kNow;
using test::make_cluster;
using test::share_of;

class RestartRecord : public testing::Test {
 protected:
  RestartRecord() {
    std::string name = testing::TempDir() + "/restartsXXXXXX";
    folder_ = mkdtemp(name.data());
    Job& job = add_consenting(snapshot_);
    saving_.job = job.key;
    saving_.step = ResizeStep::kSaving;
    saving_.from = 8;
    saving_.gpus = 4;
    saving_.runs = job.restarts;
    saving_.asked = kNow - 5;
    saving_.shares = {share_of(snapshot_, 0, 4)};
  }
  ~RestartRecord() override { std::filesystem::remove_all(folder_); }

  void keep() { EXPECT_EQ(keep_restarts(folder_, saving_, memory_, snapshot_), ""); }
  // As slurmctld knows the job after the requeue.
  Job& requeued() {
    Job& job = snapshot_.jobs.front();
    job.state = JobState::kPending;
    job.key.submit = kNow;
    job.restarts = saving_.runs + 1;
    job.allocation.clear();
    return job;
  }
  [[nodiscard]] Memory recalled() const {
    Memory memory = memory_;
    recall_restarts(folder_, snapshot_, memory);
    return memory;
  }

  Snapshot snapshot_ = make_cluster({{"a100", 8}});
  Memory memory_;
  AskedResize saving_;
  std::string folder_;
};

TEST_F(RestartRecord, GivesBackSizeAndPlaceOfARequeuedJob) {
  keep();
  requeued();
  const Memory memory = recalled();
  ASSERT_EQ(memory.asked_resizes.size(), 1);
  EXPECT_EQ(memory.asked_resizes[0], saving_);
}

TEST_F(RestartRecord, GivesBackARestartOfWhichSlurmctldLostTheRequeue) {
  keep();
  EXPECT_EQ(recalled().asked_resizes.size(), 1);
}

TEST_F(RestartRecord, KeepsThoseThatWaitForTheirStart) {
  AskedResize other = saving_;
  other.job.id += 1;
  other.step = ResizeStep::kRequeued;
  other.requeued = kNow - 10;
  AskedResize live = saving_;
  live.job.id += 2;
  live.live = true;
  AskedResize done = saving_;
  done.job.id += 3;
  done.step = ResizeStep::kDone;
  memory_.asked_resizes = {saving_, other, live, done};
  keep();
  memory_ = {};
  EXPECT_EQ(recalled().asked_resizes, (std::vector{saving_, other}));
}

TEST_F(RestartRecord, ALaterStepInTheMemoryStays) {
  keep();
  requeued();
  for (const ResizeStep step : {ResizeStep::kRequeued, ResizeStep::kDone, ResizeStep::kFailed}) {
    memory_.asked_resizes = {saving_};
    memory_.asked_resizes[0].step = step;
    memory_.asked_resizes[0].shares.clear();
    EXPECT_EQ(recalled(), memory_);
  }
  memory_.asked_resizes[0].step = ResizeStep::kSaving;
  EXPECT_EQ(recalled().asked_resizes[0].shares, saving_.shares);
  memory_.asked_resizes[0].asked += 1;
  EXPECT_EQ(recalled(), memory_);
}

TEST_F(RestartRecord, IsNotUsedWhenTheJobRunsAgain) {
  keep();
  Job& job = requeued();
  job.restarts += 1;
  EXPECT_TRUE(recalled().asked_resizes.empty());
  job.restarts -= 1;
  job.state = JobState::kRunning;
  EXPECT_TRUE(recalled().asked_resizes.empty());
}

TEST_F(RestartRecord, IsNotUsedWhenThePlaceIsKeptNoLonger) {
  keep();
  requeued();
  snapshot_.taken = kNow + kPlaceKept - 1;
  EXPECT_EQ(recalled().asked_resizes.size(), 1);
  snapshot_.taken = kNow + kPlaceKept;
  EXPECT_TRUE(recalled().asked_resizes.empty());
}

TEST_F(RestartRecord, ADamagedFileChangesNothing) {
  EXPECT_TRUE(recalled().asked_resizes.empty());
  std::ofstream(folder_ + "/restarts.json") << "{";
  EXPECT_TRUE(recalled().asked_resizes.empty());
}

TEST_F(RestartRecord, SaysWhenItCannotBeWritten) {
  std::filesystem::create_directory(folder_ + "/restarts.json.new");
  std::ofstream(folder_ + "/restarts.json.new/file") << "x";
  EXPECT_NE(keep_restarts(folder_, saving_, memory_, snapshot_), "");
}

}  // namespace
}  // namespace rubato

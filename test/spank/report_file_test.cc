// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/report_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/spank/last_line.h"
#include "test/spank/scratch.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;

class ReportFileTest : public testing::Test {
 protected:
  Result<ReportFile> open(bool fresh = false) {
    return ReportFile::open(folder_, 12, {geteuid(), getegid()}, fresh);
  }

  Scratch scratch_;
  std::string folder_ = scratch_ / "reports";
};

TEST_F(ReportFileTest, IsThereWhileAStepIs) {
  auto first = open(true);
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(first->path(), folder_ + "/12/report");
  write_text(first->path(), "a\n");
  auto second = open();
  ASSERT_TRUE(second);
  EXPECT_EQ(fs::file_size(second->path()), 2);
  first->leave();
  EXPECT_TRUE(fs::exists(second->path()));
  second->leave();
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ReportFileTest, ARestartBeginsAnew) {
  auto run = open(true);
  ASSERT_TRUE(run);
  write_text(run->path(), "of the run before\n");
  auto again = open(true);  // the previous run's step daemon was killed
  ASSERT_TRUE(again);
  EXPECT_EQ(fs::file_size(again->path()), 0);
}

TEST_F(ReportFileTest, TheClaimKeepsWhatWasSentUntilARestart) {
  auto run = open(true);
  ASSERT_TRUE(run);
  const LastLine line{"report samples=1;rate=1;batch=1", 32, 77};
  {
    const Descriptor claim = run->claim();
    EXPECT_EQ(kept_sent(claim.get()), LastLine{});
    keep_sent(claim.get(), LastLine{std::string(1000, 'x'), 1001, 77});
    keep_sent(claim.get(), line);
  }
  EXPECT_EQ(kept_sent(run->claim().get()), line);
  auto again = open(true);
  ASSERT_TRUE(again);
  EXPECT_EQ(kept_sent(again->claim().get()), LastLine{});
}

TEST_F(ReportFileTest, OneForwarderAtATime) {
  auto first = open();
  auto second = open();
  ASSERT_TRUE(first && second);
  {
    const Descriptor claim = first->claim();
    EXPECT_TRUE(claim.open());
    EXPECT_FALSE(second->claim().open());
  }
  EXPECT_TRUE(second->claim().open());
}

TEST_F(ReportFileTest, BelongsToTheJobsOwner) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  auto report = ReportFile::open(folder_, 12, {65534, 65534}, true);
  ASSERT_TRUE(report);
  struct stat found = {};
  ASSERT_EQ(stat(report->path().c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, 65534);
  EXPECT_EQ(found.st_mode & 0777, 0600);
  ASSERT_EQ(stat((folder_ + "/12").c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, 0);
  EXPECT_EQ(found.st_mode & 0777, 0755);
}

TEST_F(ReportFileTest, RefusesFoldersOfOthers) {
  fs::create_directory(folder_);
  chmod(folder_.c_str(), 0777);
  ASSERT_FALSE(open());
  EXPECT_EQ(open().error().text,
            folder_ + ": is not a folder that belongs to the step daemon's user alone");
  fs::remove(folder_);
  fs::create_directory(scratch_ / "real");
  fs::create_symlink(scratch_ / "real", folder_);
  EXPECT_FALSE(open());
  fs::remove(folder_);
  write_text(folder_, "");
  EXPECT_FALSE(open());
}

TEST_F(ReportFileTest, RefusesWhatStandsInItsPlace) {
  fs::create_directories(folder_ + "/12");
  write_text(scratch_ / "victim", "");
  fs::create_symlink(scratch_ / "victim", folder_ + "/12/report");
  EXPECT_FALSE(open());
  fs::remove(folder_ + "/12/report");
  ASSERT_EQ(mkfifo((folder_ + "/12/report").c_str(), 0600), 0);
  EXPECT_FALSE(open());
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/lock_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lib/store/folder.h"
#include "test/store/store_support.h"

namespace rubato::store {
namespace {

using testing::HasSubstr;

class LockFileTest : public testing::Test {
 protected:
  void leave(const LockOwner& owner) const {
    std::ofstream(path_) << "host " << owner.host << "\nboot " << owner.boot << "\npid "
                         << owner.pid << "\n";
  }

  test::TempFolder folder_;
  std::string path_ = folder_.path() + "/store.lock";
  LockOwner self_ = this_process();
};

TEST_F(LockFileTest, NamesThisProcess) {
  EXPECT_FALSE(self_.host.empty());
  EXPECT_EQ(self_.boot.size(), 36U);
  EXPECT_EQ(self_.pid, ::getpid());
}

TEST_F(LockFileTest, IsRemovedWhenItIsLetGo) {
  {
    const auto lock = LockFile::take(path_, true);
    ASSERT_TRUE(lock) << lock.error().text;
    EXPECT_THAT(test::contents(path_), HasSubstr("host " + self_.host + "\nboot " + self_.boot));
  }
  EXPECT_FALSE(test::exists(path_));
}

TEST_F(LockFileTest, SecondInThisProcessIsRefused) {
  const auto lock = LockFile::take(path_, true);
  ASSERT_TRUE(lock);
  const auto second = LockFile::take(path_, true);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text, HasSubstr("process " + std::to_string(::getpid())));
}

TEST_F(LockFileTest, SecondProcessIsRefusedAndToldWhoHoldsIt) {
  for (const bool local : {true, false}) {
    const auto lock = LockFile::take(path_, local);
    ASSERT_TRUE(lock);
    const int code = test::in_child([&] {
      const auto second = LockFile::take(path_, local);
      if (second) return 1;
      const std::string text = "process " + std::to_string(self_.pid) + " on host " + self_.host;
      return second.error().text.find(text) == std::string::npos ? 2 : 0;
    });
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(test::exists(path_));
  }
}

TEST_F(LockFileTest, LockOfADeadProcessIsTakenOver) {
  for (const bool local : {true, false}) {
    const int code = test::in_child([&] {
      auto lock = LockFile::take(path_, local);
      if (!lock) return 1;
      new LockFile(std::move(*lock));  // never released, as after kill -9
      return 0;
    });
    ASSERT_EQ(code, 0);
    ASSERT_TRUE(test::exists(path_));
    const auto lock = LockFile::take(path_, local);
    EXPECT_TRUE(lock) << lock.error().text;
  }
}

TEST_F(LockFileTest, LockOfAnotherBootOfThisHostIsTakenOver) {
  for (const bool local : {true, false}) {
    leave({self_.host, "11111111-2222-3333-4444-555555555555", 1});  // pid 1 always runs
    const auto lock = LockFile::take(path_, local);
    ASSERT_TRUE(lock) << lock.error().text;
    EXPECT_THAT(test::contents(path_), HasSubstr(self_.boot));
  }
}

TEST_F(LockFileTest, LockOfAnotherHostHoldsWhereAnotherHostCanWrite) {
  leave({"elsewhere", self_.boot, 77});
  const auto lock = LockFile::take(path_, false);
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().text, HasSubstr("process 77 on host elsewhere holds it"));
  EXPECT_THAT(test::contents(path_), HasSubstr("elsewhere"));
  // On a local file system that host cannot be writing: the folder was moved here.
  EXPECT_TRUE(LockFile::take(path_, true));
}

TEST_F(LockFileTest, LockOfAHostWithoutHeartbeatIsTakenOverAfterABoundedWait) {
  const auto beat = [&](int number) {
    std::ofstream(path_, std::ios::trunc)
        << "host elsewhere\nboot x\npid 77\nbeat " << number << "\n";
  };
  const SteadyTime begin{};
  LockWatch watch;
  const auto taken = [&](std::chrono::seconds after) {
    watch.now = begin + after;
    return LockFile::take(path_, false, self_, &watch).has_value();
  };
  beat(1);
  EXPECT_FALSE(taken(std::chrono::seconds(10)));
  EXPECT_FALSE(taken(kStaleAfter + std::chrono::seconds(9)));
  beat(2);  // it lives
  EXPECT_FALSE(taken(kStaleAfter + std::chrono::seconds(20)));
  EXPECT_FALSE(taken(2 * kStaleAfter + std::chrono::seconds(19)));
  EXPECT_TRUE(taken(2 * kStaleAfter + std::chrono::seconds(20)));
}

TEST_F(LockFileTest, LockWithoutHeartbeatIsNeverTakenOver) {
  leave({"elsewhere", self_.boot, 77});  // of an older release
  LockWatch watch;
  EXPECT_FALSE(LockFile::take(path_, false, self_, &watch));
  watch.now += 100 * kStaleAfter;
  EXPECT_FALSE(LockFile::take(path_, false, self_, &watch));
}

TEST_F(LockFileTest, HeartbeatChangesTheFileAndEndsWhenAnotherHostHasIt) {
  auto lock = LockFile::take(path_, false);
  ASSERT_TRUE(lock);
  SteadyTime now{};
  ASSERT_TRUE(lock->renew(now));
  const std::string first = test::contents(path_);
  now += std::chrono::seconds(1);
  ASSERT_TRUE(lock->renew(now));
  EXPECT_EQ(test::contents(path_), first);
  now += kBeatInterval;
  ASSERT_TRUE(lock->renew(now));
  EXPECT_NE(test::contents(path_), first);
  EXPECT_EQ(test::contents(path_).size(), first.size());
  const std::string theirs = "host elsewhere\nboot x\npid 77\nbeat 3\n";
  std::ofstream(path_, std::ios::trunc) << theirs;
  const auto lost = lock->renew(now);
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().text, HasSubstr("process 77 on host elsewhere has taken it over"));
  { const LockFile gone = std::move(*lock); }
  EXPECT_EQ(test::contents(path_), theirs);  // the file of the new owner stays
}

TEST_F(LockFileTest, WithoutKernelLocksHostBootAndProcessDecide) {
  const auto held = [&](const LockOwner& owner) {
    return is_held(owner, self_, false, KernelLock::kNone);
  };
  EXPECT_TRUE(held(self_));
  EXPECT_TRUE(held({self_.host, self_.boot, 1}));
  EXPECT_TRUE(held({"elsewhere", self_.boot, 0}));
  EXPECT_FALSE(held({self_.host, "11111111-2222-3333-4444-555555555555", 1}));
  EXPECT_FALSE(held({self_.host, self_.boot, 0}));
  EXPECT_FALSE(held({}));
}

TEST_F(LockFileTest, LeftoversOfAnyFormDoNotHold) {
  for (const char* text : {"", "host", "\0\0\0", "garbage garbage garbage", "pid x\nhost\n"}) {
    std::ofstream(path_, std::ios::trunc) << text;
    EXPECT_TRUE(LockFile::take(path_, false)) << text;
  }
}

TEST_F(LockFileTest, SymbolicLinkIsNotFollowed) {
  const std::string target = folder_.path() + "/precious";
  std::ofstream(target) << "keep";
  ASSERT_EQ(::symlink(target.c_str(), path_.c_str()), 0);
  EXPECT_FALSE(LockFile::take(path_, true));
  EXPECT_EQ(test::contents(target), "keep");
}

TEST_F(LockFileTest, MovedLockIsReleasedOnce) {
  auto lock = LockFile::take(path_, true);
  ASSERT_TRUE(lock);
  LockFile moved = std::move(*lock);
  EXPECT_TRUE(test::exists(path_));
  EXPECT_FALSE(LockFile::take(path_, true));
}

TEST(Folder, KindsOfFileSystem) {
  EXPECT_TRUE(is_local_type(0xEF53));       // ext4
  EXPECT_TRUE(is_local_type(0x58465342));   // xfs
  EXPECT_FALSE(is_local_type(0x6969));      // nfs
  EXPECT_FALSE(is_local_type(0xFF534D42));  // cifs
  EXPECT_FALSE(is_local_type(0x0BD00BD0));  // lustre
  EXPECT_FALSE(is_local_type(0x47504653));  // gpfs
  EXPECT_FALSE(is_local_type(0x65735546));  // fuse
  EXPECT_FALSE(is_local_type(0x00C36400));  // ceph
  const auto shm = is_local("/dev/shm");
  ASSERT_TRUE(shm);
  EXPECT_TRUE(*shm);
  EXPECT_FALSE(is_local("/no/such/folder"));
}

TEST(Folder, IsMadePrivateBelowAnExistingOneOnly) {
  const test::TempFolder folder;
  ASSERT_TRUE(make_folder(folder.store(), ::geteuid()));
  struct stat found {};
  ASSERT_EQ(::stat(folder.store().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700U);
  EXPECT_TRUE(make_folder(folder.store(), ::geteuid()));
  const auto missing = make_folder(folder.path() + "/a/b", ::geteuid());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().text, HasSubstr("/a/b: No such file or directory"));
  std::ofstream(folder.path() + "/file") << "x";
  EXPECT_THAT(make_folder(folder.path() + "/file", ::geteuid()).error().text,
              HasSubstr("Not a directory"));
}

TEST(Folder, SetAsideKeepsJournalsTogetherAndNamesApart) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/rubato.db";
  for (int i = 0; i < kMaxSetAside; ++i) {
    std::ofstream(path) << i;
    std::ofstream(path + "-wal") << "wal " << i;
    const auto name = set_aside(path, test::kNow);
    ASSERT_TRUE(name) << name.error().text;
    const std::string expected = path + ".corrupt-20260101T000000Z";
    EXPECT_EQ(*name, i == 0 ? expected : expected + "-" + std::to_string(i + 1));
    EXPECT_EQ(test::contents(*name), std::to_string(i));
    EXPECT_EQ(test::contents(*name + "-wal"), "wal " + std::to_string(i));
    EXPECT_FALSE(test::exists(path + "-wal"));
  }
  std::ofstream(path) << "one more";
  const auto refused = set_aside(path, test::kNow);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text, HasSubstr("8 corrupt files"));
  EXPECT_EQ(test::contents(path), "one more");
}

}  // namespace
}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/write_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rubato::tools {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kNobody = 65534;

std::string error_of(const Result<void>& result) {
  return result ? "no error" : result.error().text;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct stat stat_of(const fs::path& path) {
  struct stat found {};
  EXPECT_EQ(0, ::lstat(path.c_str(), &found)) << path;
  return found;
}

class WriteFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rubato-write-XXXXXX").string();
    ASSERT_NE(nullptr, ::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  void expect_no_part() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_NE(".part", entry.path().extension()) << entry.path();
    }
  }

  fs::path folder_;
};

TEST_F(WriteFile, MakesAFileAsTheUmaskHasIt) {
  const mode_t before = ::umask(027);
  EXPECT_EQ("no error", error_of(write_whole(path("new"), "text")));
  ::umask(before);
  EXPECT_EQ("text", text_of(path("new")));
  EXPECT_EQ(0640U, stat_of(path("new")).st_mode & 07777U);
  expect_no_part();
}

TEST_F(WriteFile, KeepsModeAndOwner) {
  std::ofstream(path("old")) << "longer than before";
  ASSERT_EQ(0, ::chmod(path("old").c_str(), 0600));
  // Some containers have only one user.
  if (::geteuid() == 0 && ::chown(path("old").c_str(), kNobody, kNobody) != 0) {
    GTEST_LOG_(INFO) << "the owner stays root";
  }
  const auto before = stat_of(path("old"));
  EXPECT_EQ("no error", error_of(check_writable(path("old"))));
  EXPECT_EQ("no error", error_of(write_whole(path("old"), "text")));
  const auto after = stat_of(path("old"));
  EXPECT_EQ("text", text_of(path("old")));
  EXPECT_EQ(0600U, after.st_mode & 07777U);
  EXPECT_EQ(before.st_uid, after.st_uid);
  EXPECT_EQ(before.st_gid, after.st_gid);
  expect_no_part();
}

TEST_F(WriteFile, WritesWhatALinkNames) {
  fs::create_directory(path("sub"));
  std::ofstream(path("sub/old")) << "old";
  fs::create_symlink("sub/old", path("link"));
  fs::create_symlink("link", path("second"));
  fs::create_symlink("sub/new", path("hanging"));
  EXPECT_EQ("no error", error_of(write_whole(path("second"), "text")));
  EXPECT_EQ("no error", error_of(check_writable(path("hanging"))));
  EXPECT_FALSE(same_file(path("hanging"), path("link")));
  EXPECT_TRUE(same_file(path("hanging"), path("sub/../sub/new")));
  EXPECT_EQ("no error", error_of(write_whole(path("hanging"), "more")));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("second")));
  EXPECT_TRUE(fs::is_symlink(path("hanging")));
  EXPECT_EQ("text", text_of(path("sub/old")));
  EXPECT_EQ("more", text_of(path("sub/new")));
  EXPECT_TRUE(same_file(path("second"), path("sub/old")));
  expect_no_part();
}

TEST_F(WriteFile, ALinkInPlaceOfThePartIsNotFollowed) {
  std::ofstream(path("other")) << "other";
  fs::create_symlink("other", path("new.part"));
  EXPECT_EQ("no error", error_of(write_whole(path("new"), "text")));
  EXPECT_EQ("text", text_of(path("new")));
  EXPECT_EQ("other", text_of(path("other")));
}

TEST_F(WriteFile, WritesToAFifo) {
  ASSERT_EQ(0, ::mkfifo(path("fifo").c_str(), 0600));
  // Open for reading and writing, so that neither end blocks.
  const int reader = ::open(path("fifo").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_EQ("no error", error_of(check_writable(path("fifo"))));
  EXPECT_EQ("no error", error_of(write_whole(path("fifo"), "text")));
  char text[16];
  EXPECT_EQ(4, ::read(reader, text, sizeof(text)));
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_FALSE(same_file(path("fifo"), path("fifo")));
  expect_no_part();
}

TEST_F(WriteFile, ADeviceStaysOneAndTellsItsErrors) {
  // A private device: a bug here must not destroy the machine's /dev/full.
  constexpr unsigned kMemory = 1;
  constexpr unsigned kFull = 7;
  if (::mknod(path("full").c_str(), S_IFCHR | 0600, makedev(kMemory, kFull)) != 0) {
    GTEST_SKIP() << "no devices can be made here";
  }
  const int file = ::open(path("full").c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) GTEST_SKIP() << "no devices can be opened here";
  ::close(file);
  EXPECT_EQ(path("full") + ": No space left on device", error_of(write_whole(path("full"), "t")));
  EXPECT_TRUE(fs::is_character_file(path("full")));
}

TEST_F(WriteFile, RefusesASocketAndAFolder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path("socket").size() >= sizeof(address.sun_path)) GTEST_SKIP() << "TMPDIR is too long";
  path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(0, ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  const std::string refused = path("socket") + ": No such device or address";
  EXPECT_EQ(refused, error_of(check_writable(path("socket"))));
  EXPECT_EQ(refused, error_of(write_whole(path("socket"), "text")));
  ::close(file);
  EXPECT_TRUE(fs::is_socket(path("socket")));
  const std::string folder = folder_.string() + ": Is a directory";
  EXPECT_EQ(folder, error_of(check_writable(folder_.string())));
  EXPECT_EQ(folder, error_of(write_whole(folder_.string(), "text")));
}

TEST_F(WriteFile, SaysWhatAFolderLacks) {
  const std::string none = path("none/new") + ": No such file or directory";
  EXPECT_EQ(none, error_of(check_writable(path("none/new"))));
  EXPECT_EQ(none, error_of(write_whole(path("none/new"), "text")));
  std::ofstream(path("file")) << "text";
  const std::string no_folder = path("file/new") + ": Not a directory";
  EXPECT_EQ(no_folder, error_of(check_writable(path("file/new"))));
  EXPECT_EQ(no_folder, error_of(write_whole(path("file/new"), "text")));
}

TEST_F(WriteFile, SaysWhereThereIsNoPermission) {
  fs::create_directory(path("closed"));
  fs::permissions(path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  const bool root = ::geteuid() == 0;
  if (root) {
    // Root may write anywhere, so test as another user.
    fs::permissions(folder_, fs::perms{0755});
    fs::permissions(path("closed"), fs::perms{0555});
    if (::seteuid(kNobody) != 0) GTEST_SKIP() << "there is no other user here";
  }
  const Result<void> checked = check_writable(path("closed/new"));
  const Result<void> written = write_whole(path("closed/new"), "text");
  if (root) {
    ASSERT_EQ(0, ::seteuid(0));
  }
  EXPECT_EQ(path("closed/new") + ": Permission denied", error_of(checked));
  EXPECT_EQ(path("closed/new") + ": Permission denied", error_of(written));
  EXPECT_TRUE(fs::is_empty(path("closed")));
  fs::permissions(path("closed"), fs::perms::owner_all);
}

}  // namespace
}  // namespace rubato::tools

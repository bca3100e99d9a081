// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are replaced atomically.
#include "lib/base/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rubato {
namespace {

class AtomicFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "rubato-atomic-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

TEST_F(AtomicFile, ReplacesTheContentAndSetsTheMode) {
  ASSERT_TRUE(write_atomically(path("a"), "old", {.mode = 0600}));
  ASSERT_TRUE(write_atomically(path("a"), "new", {.mode = 0644, .durable = true}));
  EXPECT_EQ(content(path("a")), "new");
  struct stat found {};
  ASSERT_EQ(::stat(path("a").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0644U);
  EXPECT_FALSE(std::filesystem::exists(path("a.new")));
}

TEST_F(AtomicFile, NeverWritesThroughALinkOfTheTemporaryName) {
  std::ofstream(path("other")) << "kept";
  std::filesystem::create_symlink(path("other"), path("a.new"));
  ASSERT_TRUE(write_atomically(path("a"), "text"));
  EXPECT_EQ(content(path("other")), "kept");
  EXPECT_EQ(content(path("a")), "text");
}

TEST_F(AtomicFile, ReportsWhatFailedAndLeavesNothingBehind) {
  const auto missing = write_atomically(path("none/a"), "text");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().path, path("none/a.new"));
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_EQ(missing.error().stage, WriteStage::kContent);
  std::filesystem::create_directories(path("folder/full"));
  const auto taken = write_atomically(path("folder"), "text");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().path, path("folder"));
  EXPECT_EQ(taken.error().stage, WriteStage::kRename);
  EXPECT_FALSE(std::filesystem::exists(path("folder.new")));
}

TEST_F(AtomicFile, KeepsTheOwnerThatTheCallerNames) {
  ASSERT_TRUE(write_atomically(
      path("a"), "text",
      {.mode = 0640, .owner = FileOwner{::getuid(), ::getgid()}, .suffix = ".part"}));
  struct stat found {};
  ASSERT_EQ(::stat(path("a").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0640U);
  EXPECT_EQ(found.st_uid, ::getuid());
  EXPECT_FALSE(std::filesystem::exists(path("a.part")));
}

TEST_F(AtomicFile, LetsTheUmaskLimitTheMode) {
  const mode_t before = ::umask(027);
  const bool written =
      write_atomically(path("a"), "text", {.mode = 0666, .umask = true}).has_value();
  ::umask(before);
  ASSERT_TRUE(written);
  struct stat found {};
  ASSERT_EQ(::stat(path("a").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777U, 0640U);
}

}  // namespace
}  // namespace rubato

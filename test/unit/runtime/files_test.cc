// SPDX-License-Identifier: GPL-2.0-or-later
// Files that cannot be written, and how often that is logged.
#include "lib/runtime/files.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace rubato {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    std::string name = ::testing::TempDir() + "/filesXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~FilesTest() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(FilesTest, a_fifo_beside_the_file_holds_nobody_up) {
  const std::string path = folder_ / "state.json";
  ASSERT_EQ(mkfifo((path + ".new").c_str(), 0600), 0);
  EXPECT_EQ(replace_file(path, "text", FileKind::kState), "");
  EXPECT_TRUE(fs::is_regular_file(path));
  EXPECT_EQ(fs::file_size(path), 4U);
}

TEST_F(FilesTest, only_the_last_folder_is_made) {
  std::map<std::string, std::string> told;
  const auto hear = [&](const std::string& path, const std::string& error) { told[path] = error; };
  const std::string below = folder_ / "x/y";
  EXPECT_FALSE(publish_file("plan.json", "a", "", below, folder_ / "private", hear));
  EXPECT_EQ(told.size(), 1U) << "of the file behind it nothing";
  EXPECT_EQ(told[below], "cannot make the folder " + below +
                             ": No such file or directory; the one above it must be there");
  EXPECT_FALSE(fs::exists(folder_ / "x"));
  fs::create_directory(folder_ / "x");
  EXPECT_TRUE(publish_file("plan.json", "a", "whole", below, folder_ / "private", hear));
  EXPECT_EQ(told[below], "");
  EXPECT_TRUE(fs::exists(folder_ / "x/y/plan.json"));
  EXPECT_EQ(fs::status(folder_ / "private").permissions(), fs::perms::owner_all);
}

TEST_F(FilesTest, files_that_fail_in_turn_are_said_once_each) {
  WriteLog log;
  const auto begin = SteadyTime(std::chrono::hours(1));
  int lines = 0;
  for (int round = 0; round < 1000; ++round) {
    const auto now = begin + round * 100ms;
    for (const char* path : {"/plan", "/stats", "/state"})
      if (!log.note(path, "cannot write " + std::string(path), now).text.empty()) ++lines;
  }
  EXPECT_EQ(lines, 3);
}

TEST_F(FilesTest, written_again_is_said_of_the_file_that_was) {
  WriteLog log;
  const auto now = SteadyTime(std::chrono::hours(1));
  const auto error = log.note("/plan", "cannot write /plan: No space left on device", now);
  EXPECT_EQ(error.text, "cannot write /plan: No space left on device; scheduling goes on without");
  EXPECT_TRUE(error.trouble);
  EXPECT_EQ(log.note("/stats", "", now).text, "") << "it never failed";
  const auto again = log.note("/plan", "", now);
  EXPECT_EQ(again.text, "/plan is written again");
  EXPECT_FALSE(again.trouble);
  EXPECT_EQ(log.note("/plan", "", now).text, "");
}

TEST_F(FilesTest, a_file_that_fails_now_and_then_has_one_error_a_minute) {
  WriteLog log;
  const auto begin = SteadyTime(std::chrono::hours(1));
  int errors = 0;
  int news = 0;
  for (int second = 0; second < 300; ++second) {
    const auto line = log.note("/plan", second % 2 == 0 ? "full" : "", begin + second * 1s);
    if (line.text.empty()) continue;
    ++(line.trouble ? errors : news);
  }
  EXPECT_EQ(errors, 5);
  EXPECT_EQ(news, 5);
}

}  // namespace
}  // namespace rubato

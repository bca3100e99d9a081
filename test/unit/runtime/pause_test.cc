// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/pause.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rubato {
namespace {

class PauseTest : public testing::Test {
 protected:
  PauseTest() {
    std::string name = testing::TempDir() + "/pauseXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~PauseTest() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) const { std::ofstream(pause_file(folder_)) << text; }

  std::string folder_;
};

TEST_F(PauseTest, LastsUntilItsEnd) {
  EXPECT_FALSE(read_pause(folder_, 100));
  write(pause_text({.until = 200}));
  EXPECT_EQ(read_pause(folder_, 199), Pause{200});
  EXPECT_FALSE(read_pause(folder_, 200));
  write(pause_text({}));
  EXPECT_EQ(read_pause(folder_, 1'000'000), Pause{});
}

TEST_F(PauseTest, SaysByWhomAndSinceWhen) {
  const Pause pause{.until = 200, .since = 100, .by = "ann"};
  write(pause_text(pause));
  EXPECT_EQ(read_pause(folder_, 150), pause);
  write("until 0\nsince never\nby \xff\n");
  EXPECT_EQ(read_pause(folder_, 150), Pause{});
  write("until 0\nby ann (root)\n");
  EXPECT_EQ(read_pause(folder_, 150), (Pause{.by = "ann"}));
  // Versions before wrote this line alone.
  write("until 200\n");
  EXPECT_EQ(read_pause(folder_, 150), Pause{200});
}

TEST_F(PauseTest, AFileThatCannotBeReadIsAPauseWithoutEnd) {
  for (const char* text : {"", "x", "until", "until never\n"}) {
    write(text);
    EXPECT_EQ(read_pause(folder_, 100), Pause{}) << text;
  }
  std::filesystem::remove(pause_file(folder_));
  std::filesystem::create_directory(pause_file(folder_));
  EXPECT_EQ(read_pause(folder_, 100), Pause{});
}

}  // namespace
}  // namespace rubato

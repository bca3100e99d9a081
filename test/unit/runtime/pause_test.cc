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

// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lib/base/file_system.h"
#include "lib/config/config.h"

namespace rubato {
namespace {

/// A temporary empty folder.
class RealFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "rubato-conf-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  std::filesystem::path folder_;
  RealFileSystem files_;
};

TEST_F(RealFiles, ReadsAFileWholeWithEveryByte) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += static_cast<char>(i % 256);
  write("a", text);
  EXPECT_EQ(files_.read(path("a")).value_or("?"), text);
  write("empty", "");
  EXPECT_EQ(files_.read(path("empty")).value_or("?"), "");
}

TEST_F(RealFiles, AMissingFileIsMissing) {
  const auto file = files_.read(path("none"));
  ASSERT_FALSE(file);
  EXPECT_TRUE(file.error().missing);
  write("plain", "");
  EXPECT_TRUE(files_.read(path("plain/below")).error().missing);
}

TEST_F(RealFiles, WhatIsNoRegularFileIsRefusedAtOnce) {
  const auto folder = files_.read(folder_.string());
  ASSERT_FALSE(folder);
  EXPECT_FALSE(folder.error().missing);
  EXPECT_EQ(folder.error().text, "Not a regular file");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  const auto fifo = files_.read(path("fifo"));  // must not block until a writer opens it
  ASSERT_FALSE(fifo);
  EXPECT_EQ(fifo.error().text, "Not a regular file");
}

TEST_F(RealFiles, AFileAboveOneMebibyteIsRefused) {
  write("most", std::string(1 << 20, '#'));
  EXPECT_TRUE(files_.read(path("most")));
  write("more", std::string((1 << 20) + 1, '#'));
  const auto more = files_.read(path("more"));
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().text, "Larger than 1 MiB");
}

TEST_F(RealFiles, ANameWithAZeroByteIsNotCutShort) {
  write("a", "Mode=observe");
  EXPECT_FALSE(files_.read(path("a") + std::string("\0x", 2)));
}

TEST_F(RealFiles, LoadFollowsIncludesFromTheFolderOfTheFile) {
  std::filesystem::create_directory(folder_ / "sub");
  write("rubato.conf", "Include sub/a.conf\n");
  write("sub/a.conf", "Include b.conf\n");
  write("sub/b.conf", "ReserveDepth=7\n");
  const auto loaded = load_config_file(path("rubato.conf"), files_);
  ASSERT_TRUE(loaded) << loaded.error().text;
  EXPECT_TRUE(loaded->present);
  EXPECT_EQ(loaded->config.reserve_depth, 7);
  EXPECT_EQ(loaded->note, path("rubato.conf") + " read: mode is observe");
}

TEST_F(RealFiles, LoadOfAMissingFileIsObserve) {
  const auto loaded = load_config_file(path("rubato.conf"), files_);
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->present);
  EXPECT_EQ(loaded->config, Config{});
  EXPECT_EQ(loaded->config.mode, Mode::kObserve);
  EXPECT_EQ(loaded->note, path("rubato.conf") + " does not exist: mode is observe");
}

TEST_F(RealFiles, LoadOfWhatCannotBeReadFails) {
  std::filesystem::create_directory(folder_ / "rubato.conf");
  const auto loaded = load_config_file(path("rubato.conf"), files_);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().text, path("rubato.conf") + ": cannot be read: Not a regular file");
}

TEST_F(RealFiles, LoadOfABadFileFailsWithEveryError) {
  write("rubato.conf", "Mode=place\nReserveDepht=3\n");
  const auto loaded = load_config_file(path("rubato.conf"), files_);
  ASSERT_FALSE(loaded);
  const std::string at = path("rubato.conf");
  EXPECT_EQ(loaded.error().text,
            at + ":2: ReserveDepht: unknown option; did you mean ReserveDepth?\n" + at +
                ":1: Mode: place requires managed partitions; add a line such as "
                "ManagedPartitions=gpu or ManagedPartitions=all");
}

}  // namespace
}  // namespace rubato

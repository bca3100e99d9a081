// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/host.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace rubato {
namespace {

namespace fs = std::filesystem;

class HostTest : public ::testing::Test {
 protected:
  HostTest() {
    std::string name = ::testing::TempDir() + "/hostXXXXXX";
    root_ = fs::canonical(mkdtemp(name.data()));
    for (const char* part : {"ours", "stock", "other"}) fs::create_directory(root_ / part);
    std::ofstream(root_ / "ours" / "x.so") << "ours";
    std::ofstream(root_ / "stock" / "x.so") << "stock";
  }
  ~HostTest() override { fs::remove_all(root_); }

  std::string at(const char* part) const { return (root_ / part).string(); }

  fs::path root_;
};

TEST_F(HostTest, FindsTheStockFileBehindOurDirectory) {
  const auto found = find_stock(at("ours") + ":" + at("stock"), at("ours"), "x.so");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(*found, at("stock") + "/x.so");
}

TEST_F(HostTest, PassesOverPartsWithoutTheFile) {
  const auto found = find_stock(at("ours") + ":/no/such/dir:" + at("other") + ":" + at("stock"),
                                at("ours"), "x.so");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, at("stock") + "/x.so");
}

TEST_F(HostTest, LooksOnlyBehindOurDirectory) {
  const auto found = find_stock(at("stock") + ":" + at("ours"), at("ours"), "x.so");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text.find("set PluginDir=" + at("ours") + ":"), std::string::npos);
}

TEST_F(HostTest, NeverFindsItself) {
  const auto found = find_stock(at("ours") + ":" + at("ours"), at("ours"), "x.so");
  EXPECT_FALSE(found);
}

TEST_F(HostTest, SeesThroughLinks) {
  fs::create_directory_symlink(root_ / "ours", root_ / "link");
  const auto found = find_stock(at("link") + ":" + at("stock"), at("ours"), "x.so");
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_EQ(*found, at("stock") + "/x.so");
}

TEST_F(HostTest, SaysWhenPluginDirDoesNotNameUs) {
  const auto found = find_stock(at("stock"), at("ours"), "x.so");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text.find("does not name " + at("ours")), std::string::npos);
}

TEST_F(HostTest, SaysWhatCannotBeOpened) {
  const auto plugin = StockPlugin::open(at("stock") + "/x.so");
  ASSERT_FALSE(plugin);
  EXPECT_NE(plugin.error().text.find(at("stock") + "/x.so"), std::string::npos);
}

TEST(Host, KnowsItsOwnDirectory) {
  static const int inside = 0;
  const std::string here = directory_of(&inside);
  EXPECT_TRUE(fs::is_directory(here)) << here;
  EXPECT_EQ(here, fs::read_symlink("/proc/self/exe").parent_path().string());
}

}  // namespace
}  // namespace rubato

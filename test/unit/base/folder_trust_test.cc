// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/folder_trust.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace rubato {
namespace {

namespace fs = std::filesystem;

class FolderTrust : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "rubato-trust-XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ + "/above/own");
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::optional<FolderTrouble> of(const std::string& path) const {
    return folder_trouble(root_ + path, geteuid());
  }

  std::string root_;
};

TEST_F(FolderTrust, OwnFoldersAndMissingOnesPass) {
  EXPECT_FALSE(of("/above/own"));
  EXPECT_FALSE(of("/above/own/later"));
}

TEST_F(FolderTrust, AFolderThatOthersWriteIsRefusedUnlessASubfolderIsStickyThere) {
  chmod((root_ + "/above").c_str(), 0777);
  const auto trouble = of("/above/own");
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->path, root_ + "/above");
  EXPECT_EQ(remedy(*trouble, "slurm"), "chmod go-w " + root_ + "/above");
  chmod((root_ + "/above").c_str(), 01777);
  EXPECT_FALSE(of("/above/own"));
  EXPECT_TRUE(of("/above"));  // others could put files there first
}

TEST_F(FolderTrust, ALinkIsFollowedToWhereItLeads) {
  fs::create_symlink(root_ + "/above/own", root_ + "/link");
  EXPECT_FALSE(of("/link"));
  chmod((root_ + "/above").c_str(), 0777);
  const auto trouble = of("/link");
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->path, root_ + "/above");
}

TEST_F(FolderTrust, AForeignOwnerIsRefusedWithTheRemedy) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chown((root_ + "/above").c_str(), 65534, 65534), 0);
  const auto trouble = of("/above/own");
  ASSERT_TRUE(trouble);
  EXPECT_EQ(to_string(*trouble), root_ +
                                     "/above: belongs to user 65534, who could replace its "
                                     "files; it must belong to root or SlurmUser");
  EXPECT_EQ(remedy(*trouble, "slurm"), "chown slurm " + root_ + "/above");
  EXPECT_FALSE(folder_trouble(root_ + "/above/own", 65534));
}

TEST_F(FolderTrust, TheGroupOfTheUserMayWrite) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  chmod((root_ + "/above").c_str(), 0775);
  EXPECT_FALSE(of("/above/own"));
  ASSERT_EQ(chown((root_ + "/above").c_str(), 0, 65534), 0);
  EXPECT_TRUE(of("/above/own"));
}

}  // namespace
}  // namespace rubato

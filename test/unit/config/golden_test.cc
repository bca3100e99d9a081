// SPDX-License-Identifier: GPL-2.0-or-later
// Golden files: test/golden/config.d/NN-name/{rubato.conf,expected[,expected.json]}, the man page
// and the example. A folder name that ends in -testing enables the options for tests. After an
// intended change, RUBATO_REGENERATE=1 rewrites the expected files; check them.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "lib/config/config.h"
#include "lib/config/options.h"
#include "lib/config/render.h"
#include "test/support/golden_files.h"
#include "tools/generate/config_man.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;
using test::expect_kept;
using test::golden_cases;
using test::read_whole;
using test::source_dir;

/// Maps names to a folder of the test, so that errors do not contain the tree's path.
class FolderFileSystem : public FileSystem {
 public:
  explicit FolderFileSystem(fs::path folder) : folder_(std::move(folder)) {}
  tl::expected<std::string, ReadFailure> read(const std::string& path) const override {
    return real_.read((folder_ / path).string());
  }

 private:
  fs::path folder_;
  RealFileSystem real_;
};

TEST(ConfigGolden, EveryFolderGivesWhatIsExpected) {
  int valid = 0;
  int invalid = 0;
  for (const fs::path& folder : golden_cases("config.d")) {
    SCOPED_TRACE(folder.filename());
    const bool testing = folder.filename().string().ends_with("-testing");
    const FolderFileSystem files(folder);
    const auto loaded = load_config_file("rubato.conf", files, testing);
    (loaded ? valid : invalid) += 1;
    expect_kept(folder / "expected",
                loaded ? dump_config(loaded->config) : loaded.error().text + "\n");
    if (!loaded) continue;
    if (fs::exists(folder / "expected.json")) {
      expect_kept(folder / "expected.json", config_json(loaded->config) + "\n");
    }
    const auto again = parse_config(dump_config(loaded->config), "dump", testing);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_EQ(*again, loaded->config);
  }
  EXPECT_GE(valid + invalid, 40);
  EXPECT_GE(valid, 10);
  EXPECT_GE(invalid, 20);
}

TEST(ConfigGolden, ErrorsAreWholeSentencesWithAPlace) {
  for (const fs::path& folder : golden_cases("config.d")) {
    const FolderFileSystem files(folder);
    const auto loaded =
        load_config_file("rubato.conf", files, folder.filename().string().ends_with("-testing"));
    if (loaded) continue;
    std::istringstream lines(loaded.error().text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(':');
      ASSERT_NE(colon, std::string::npos) << line;
      EXPECT_NE(line.find_first_of("0123456789", colon), std::string::npos) << line;
      EXPECT_FALSE(line.ends_with('.') || line.ends_with(' ')) << line;
    }
  }
}

TEST(ConfigGolden, TheManPageIsThatOfTheTable) {
  expect_kept(source_dir() / "docs/man/rubato.conf.5", man_page_config());
}

TEST(ConfigGolden, TheExampleIsThatOfTheTable) {
  expect_kept(source_dir() / "configs/rubato.conf.example", example_config());
}

TEST(ConfigGolden, TheExampleChangesNothing) {
  const auto config =
      parse_config(read_whole(source_dir() / "configs/rubato.conf.example"), "example");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(*config, Config{});
}

TEST(ConfigGolden, TheExampleParsesWithEveryLineInUse) {
  std::istringstream in(read_whole(source_dir() / "configs/rubato.conf.example"));
  std::string text;
  std::set<std::string> named;
  for (std::string line; std::getline(in, line);) {
    if (line.size() > 1 && line[0] == '#' && line[1] >= 'A' && line[1] <= 'Z') line.erase(0, 1);
    if (line.size() > 1 && line[0] != '#') named.insert(line.substr(0, line.find('=')));
    text += line + "\n";
  }
  for (const Option& option : options()) {
    if (option.record.empty()) {
      EXPECT_TRUE(named.contains(option.name)) << option.name;
    }
  }
  const auto config = parse_config(text, "example");
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->managed_partitions, std::set<std::string>{"gpu"});
  EXPECT_EQ(config->gpu_types, (std::vector<GpuTypeConfig>{{"a100", 1.0, 80 * 1024, 600}}));
}

TEST(ConfigGolden, HelpNamesEveryOptionAndFitsATerminal) {
  const std::string help = help_config();
  for (const Option& option : options()) {
    EXPECT_NE(help.find("\n" + option.name + "\n"), std::string::npos) << option.name;
  }
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 79U) << line;
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Files that a test compares with what the code writes. RUBATO_REGENERATE=1 rewrites them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace rubato::test {

/// RUBATO_SOURCE_DIR of the environment, else that of the build.
inline std::filesystem::path source_dir() {
  const char* from_environment = std::getenv("RUBATO_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  return from_environment != nullptr ? from_environment : RUBATO_SOURCE_DIR;
}

/// Empty if there is no such file.
inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Compares with the file, or writes it on request.
inline void expect_kept(const std::filesystem::path& path, const std::string& text) {
  const char* regenerate = std::getenv("RUBATO_REGENERATE");  // NOLINT(concurrency-mt-unsafe)
  if (regenerate != nullptr && std::string(regenerate) == "1") {
    std::ofstream(path, std::ios::binary) << text;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(read_whole(path), text) << path;
}

/// The folders in a folder of test/golden, sorted.
inline std::vector<std::filesystem::path> golden_cases(const std::string& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_dir() / "test/golden" / folder)) {
    if (entry.is_directory()) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
// The folder of measured data that some tests read and the project does not ship.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace rubato::test {

/// RUBATO_DATA, or the folder shared/data beside the project; nullopt if it lacks `part`. The test
/// then skips: `GTEST_SKIP() << "no shared data"` (test/skips lists the reason).
inline std::optional<std::string> shared_data(const std::string& part) {
  const char* said = std::getenv("RUBATO_DATA");          // NOLINT(concurrency-mt-unsafe)
  const char* source = std::getenv("RUBATO_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  const std::string project = source != nullptr ? source : RUBATO_SOURCE_DIR;
  std::string folder = said != nullptr ? said : project + "/../shared/data";
  std::error_code code;
  if (!std::filesystem::is_directory(folder + "/" + part, code)) return std::nullopt;
  return folder;
}

}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
// Where the measured data lie that some tests read and the project does not ship.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace rubato::test {

/// RUBATO_DATA, or the folder shared/data beside the project; none when it has no such `part`. A
/// test skips then: `GTEST_SKIP() << "no shared data"` (test/skips knows the reason).
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

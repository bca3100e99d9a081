// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/write_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rubato::tools {

Result<void> write_whole(const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
        std::fflush(stdout) == 0) {
      return {};
    }
    return fail(fmt::format("cannot write: {}", std::strerror(errno)));
  }
  const std::string part = path + ".part";
  std::FILE* file = std::fopen(part.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  int reason = errno;
  if (file != nullptr && std::fclose(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && std::rename(part.c_str(), path.c_str()) != 0) {
    good = false;
    reason = errno;
  }
  if (good) return {};
  if (file != nullptr) std::remove(part.c_str());
  return fail(fmt::format("{}: {}", path, std::strerror(reason)));
}

}  // namespace rubato::tools

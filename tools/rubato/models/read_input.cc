// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/models/read_input.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <initializer_list>

namespace rubato::tools {

Result<std::string> read_bounded_file(const std::string& path) {
  constexpr std::size_t kMax = std::size_t{64} << 20;
  const bool standard = path == "-";
  std::FILE* file = standard ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  char buffer[65536];
  std::size_t got = 0;
  while (text.size() <= kMax && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
    text.append(buffer, got);
  }
  const bool bad = std::ferror(file) != 0;
  const int reason = errno;
  if (!standard) std::fclose(file);
  if (bad) return fail(fmt::format("{}: {}", path, std::strerror(reason)));
  if (text.size() > kMax) return fail(fmt::format("{}: larger than 64 MiB", path));
  return text;
}

Result<Seconds> parse_time(const std::string& text) {
  for (const char* format : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d"}) {
    std::tm time{};
    time.tm_isdst = -1;
    const char* end = ::strptime(text.c_str(), format, &time);
    if (end == nullptr || *end != '\0') continue;
    const std::time_t seconds = std::mktime(&time);
    if (seconds >= 0) return static_cast<Seconds>(seconds);
  }
  return fail(fmt::format(
      "invalid time '{}'; expected for example 2026-11-21 or 2026-11-21T12:30:00", text));
}

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/slurm_log.h"

#include <cstdarg>
#include <cstdio>

#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

namespace {

log_level_t slurm_level(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return LOG_LEVEL_ERROR;
    case LogLevel::kInfo:
      return LOG_LEVEL_INFO;
    case LogLevel::kVerbose:
      return LOG_LEVEL_VERBOSE;
    case LogLevel::kDebug:
      break;
  }
  return LOG_LEVEL_DEBUG;
}

void write_line(LogLevel level, const char* line) { log_var(slurm_level(level), "%s", line); }

/// The library's lines go to this daemon's log as soon as the plugin file is opened.
[[maybe_unused]] const bool kInstalled = (set_log_writer(&write_line), true);

}  // namespace

void slurm_log(LogLevel level, const char* format, ...) noexcept {
  char line[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  log_var(slurm_level(level), "%s", line);
}

}  // namespace rubato

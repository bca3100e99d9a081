// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/slurm_log.h"

#include <cstdarg>
#include <cstdio>

#include "plugin/slurm/release/slurm_headers.h"

// Programs of users that load the select plugin have the public libslurm, which exports log_var()
// under this name only (src/common/slurm_xlator.h).
extern "C" void slurm_log_var(log_level_t level, const char* format, ...);

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

}  // namespace

void write_slurm_log(LogLevel level, const char* line) noexcept {
  slurm_log_var(slurm_level(level), "%s", line);
}

void slurm_log(LogLevel level, const char* format, ...) noexcept {
  char line[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  write_slurm_log(level, line);
}

}  // namespace rubato

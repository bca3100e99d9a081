// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/support/fake_slurm_log.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "plugin/common/slurm_log.h"

namespace rubato {

namespace {

std::mutex mutex;
std::vector<std::string>& lines() {
  static std::vector<std::string> all;
  return all;
}

void write_line(LogLevel /*level*/, const char* line) {
  const std::lock_guard lock(mutex);
  lines().emplace_back(line);
}

[[maybe_unused]] const bool kInstalled = (set_log_writer(&write_line), true);

}  // namespace

namespace test {

std::vector<std::string> logged() {
  const std::lock_guard lock(mutex);
  return lines();
}

void clear_log() {
  const std::lock_guard lock(mutex);
  lines().clear();
}

}  // namespace test

void slurm_log(LogLevel /*level*/, const char* format, ...) noexcept {
  char line[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  const std::lock_guard lock(mutex);
  lines().emplace_back(line);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// spdlog into the log of the daemon that loaded the library.
#pragma once

#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "lib/base/clock.h"

namespace rubato {

enum class LogLevel { kError, kInfo, kVerbose, kDebug };

/// Writes one line to the daemon's log. Must not throw.
using LogWriter = void (*)(LogLevel level, const char* line);

/// Writes one line with printf, cut at 1 KiB, past the limits of the logger. Allocates nothing: for
/// destructors and handlers of exceptions, which may run because there is no memory.
void log_failure(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

/// Sends all later lines to `writer`. Until the first call they go to standard error.
void set_log_writer(LogWriter writer) noexcept;

/// Writes lines with the log writer. After a burst of kBurst lines it lets kLinesPerSecond through;
/// suppressed lines are counted and reported in one line, so that a fault that repeats cannot fill
/// a disk.
class DaemonSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr double kBurst = 400;
  static constexpr double kLinesPerSecond = 100;

  explicit DaemonSink(std::shared_ptr<const Clock> clock) : clock_(std::move(clock)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

  const std::shared_ptr<const Clock> clock_;
  SteadyTime last_{};
  double tokens_ = kBurst;
  std::uint64_t held_back_ = 0;
};

/// The logger of this plugin file. Its lines begin "rubato: ".
[[nodiscard]] spdlog::logger& log();

/// LogLevel= of rubato.conf: error, info, debug.
void set_log_level(const std::string& level);

}  // namespace rubato

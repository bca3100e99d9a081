// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>

namespace rubato {

namespace {

void write_to_stderr(LogLevel /*level*/, const char* line) { std::fprintf(stderr, "%s\n", line); }

constinit std::atomic<LogWriter> writer{&write_to_stderr};

void write_line(LogLevel level, std::string_view text) {
  writer.load()(level, fmt::format("rubato: {}", text).c_str());
}

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::info:
      return LogLevel::kInfo;
    default:
      return LogLevel::kError;
  }
}

}  // namespace

void set_log_writer(LogWriter to) noexcept { writer.store(to); }

void DaemonSink::sink_it_(const spdlog::details::log_msg& message) {
  const SteadyTime now = clock_->steady();
  if (last_ != SteadyTime{}) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(kBurst, tokens_ + seconds * kLinesPerSecond);
  }
  last_ = now;
  if (tokens_ < 1) {
    ++held_back_;
    return;
  }
  tokens_ -= 1;
  if (held_back_ > 0) {
    write_line(LogLevel::kInfo, fmt::format("{} lines were suppressed", held_back_));
    held_back_ = 0;
  }
  write_line(level_of(message.level), {message.payload.data(), message.payload.size()});
}

spdlog::logger& log() {
  static spdlog::logger one("rubato",
                            std::make_shared<DaemonSink>(std::make_shared<SystemClock>()));
  return one;
}

void set_log_level(const std::string& level) { log().set_level(spdlog::level::from_str(level)); }

}  // namespace rubato

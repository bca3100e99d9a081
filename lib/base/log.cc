// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <string_view>

namespace rubato {

namespace {

void write_to_stderr(LogLevel /*level*/, const char* line) { std::fprintf(stderr, "%s\n", line); }

constinit std::atomic<LogWriter> writer{&write_to_stderr};

constexpr std::string_view kPrefix = "rubato: ";
constexpr std::size_t kMaxShort = 1024;

// Most lines are short; they are written without memory.
void write_line(LogLevel level, std::string_view text) {
  if (kPrefix.size() + text.size() >= kMaxShort)
    return writer.load()(level, fmt::format("{}{}", kPrefix, text).c_str());
  std::array<char, kMaxShort> line;
  *fmt::format_to(line.data(), "{}{}", kPrefix, text) = '\0';
  writer.load()(level, line.data());
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

void log_failure(const char* format, ...) noexcept {
  std::array<char, kMaxShort> line;
  const auto prefix = static_cast<std::size_t>(
      std::copy(kPrefix.begin(), kPrefix.end(), line.begin()) - line.begin());
  va_list words;
  va_start(words, format);
  std::vsnprintf(line.data() + prefix, line.size() - prefix, format, words);
  va_end(words);
  writer.load()(LogLevel::kError, line.data());
}

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

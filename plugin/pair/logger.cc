// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/pair/logger.h"

#include <algorithm>
#include <memory>

#include "plugin/pair/slurm_log.h"

namespace rubato {

namespace {

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

void SlurmSink::sink_it_(const spdlog::details::log_msg& message) {
  const auto now = now_();
  if (last_ != Clock::time_point{}) {
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
    slurm_log(LogLevel::kInfo, "rubato: %llu lines were held back",
              static_cast<unsigned long long>(held_back_));
    held_back_ = 0;
  }
  slurm_log(level_of(message.level), "rubato: %.*s", static_cast<int>(message.payload.size()),
            message.payload.data());
}

spdlog::logger& log() {
  static spdlog::logger one("rubato", std::make_shared<SlurmSink>());
  return one;
}

void set_log_level(const std::string& level) { log().set_level(spdlog::level::from_str(level)); }

}  // namespace rubato

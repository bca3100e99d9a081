// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/config_source.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

#include "plugin/pair/logger.h"

namespace rubato {

namespace {

bool testing() {
  const char* value = std::getenv("RUBATO_TESTING");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

void log_lines(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) log().error("{}", line);
}

}  // namespace

std::shared_ptr<const Config> ConfigSource::read() {
  auto loaded = load_config_file(path_, RealFileSystem(), testing());
  good_ = loaded.has_value() && (loaded->present || last_ == nullptr);
  if (good_) {
    last_ = std::make_shared<const Config>(std::move(loaded->config));
    log().info("{}", loaded->note);
    return last_;
  }
  if (!loaded) log_lines(loaded.error().text);
  if (last_ != nullptr) {
    log().error("{} was not taken; the one read before stays (Mode={}){}", path_,
                to_string(last_->mode),
                loaded ? ". The file is missing; write Mode=observe to turn Rubato off" : "");
    return last_;
  }
  last_ = std::make_shared<const Config>();
  log().error("{} was not taken; Mode=observe until a good one is read", path_);
  return last_;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/config_source.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "lib/base/log.h"
#include "lib/runtime/files.h"

namespace rubato {

namespace {

bool testing() {
  const char* value = std::getenv("RUBATO_TESTING");  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && std::strcmp(value, "1") == 0;
}

void log_lines(const std::string& text, spdlog::level::level_enum level) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) log().log(level, "{}", line);
}

}  // namespace

// The process before this one had read it.
void ConfigSource::recall() {
  const RealFileSystem files;
  const auto text = files.read(kept_);
  if (!text) return;
  kept_text_ = *text;
  if (!reconfigured_) return;
  auto config = parse_config(*text, path_, testing(), &files);
  if (!config) return;
  last_ = std::make_shared<const Config>(std::move(*config));
  any_good_ = true;
}

// Only for a reconfigure by a new process, so a failure is not worth an error.
void ConfigSource::keep(const std::string& text) {
  if (text == kept_text_) return;
  (void)make_last_folder(std::filesystem::path(kept_).parent_path().string());
  if (replace_file(kept_, text, FileKind::kPrivate).empty()) kept_text_ = text;
}

std::shared_ptr<const Config> ConfigSource::read() {
  if (reads_ == 0) recall();
  auto loaded = load_config_file(path_, RealFileSystem(), testing());
  good_ = loaded.has_value() && (loaded->present || !any_good_);
  std::string words;
  if (good_) {
    words = loaded->note;
    any_good_ = loaded->present;
    if (loaded->present) keep(loaded->text);
    last_ = std::make_shared<const Config>(std::move(loaded->config));
  } else {
    if (last_ == nullptr) last_ = std::make_shared<const Config>();
    words = loaded ? path_ + " is missing" : loaded.error().text;
    words += "\n" + path_ + " was not taken; ";
    words += any_good_
                 ? std::string("the one read before stays (Mode=") + to_string(last_->mode) + ")"
                 : "Mode=observe until a good one is read";
    if (loaded) words += ". Write Mode=observe to turn Rubato off";
  }
  // slurmctld asks its plugins to reconfigure right after it has started them.
  const bool repeat = reads_++ == 1 && words == told_;
  if (!repeat) log_lines(words, good_ ? spdlog::level::info : spdlog::level::err);
  told_ = std::move(words);
  return last_;
}

}  // namespace rubato

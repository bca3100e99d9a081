// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/pause.h"

#include <fmt/format.h>

#include <charconv>

#include "lib/base/file_system.h"

namespace rubato {

namespace {

constexpr std::string_view kKey = "until ";

}  // namespace

std::string pause_file(const std::string& state_dir) { return state_dir + "/paused"; }

std::optional<Pause> read_pause(const std::string& state_dir, Seconds now) {
  const auto text = RealFileSystem().read(pause_file(state_dir));
  if (!text) return text.error().missing ? std::nullopt : std::optional(Pause{});
  Pause pause;
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) return pause;
  const char* begin = text->data() + at + kKey.size();
  Seconds until = 0;
  if (std::from_chars(begin, text->data() + text->size(), until).ec == std::errc()) {
    pause.until = until;
  }
  if (pause.until > 0 && now >= pause.until) return std::nullopt;
  return pause;
}

std::string pause_text(const Pause& pause) { return fmt::format("{}{}\n", kKey, pause.until); }

}  // namespace rubato

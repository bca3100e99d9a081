// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/pause.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lib/base/file_system.h"
#include "lib/base/text.h"

namespace rubato {

namespace {

constexpr std::size_t kMaxUser = 64;

/// The rest of the line that begins with `key` and a blank; "" if there is none.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : split_at(text, '\n'))
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' '))
      return line.substr(key.size() + 1);
  return {};
}

Seconds time_of(std::string_view text, std::string_view key) {
  const std::string_view digits = line_of(text, key);
  Seconds time = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), time);
  return read.ec == std::errc() && time > 0 ? time : 0;
}

}  // namespace

std::string pause_file(const std::string& state_dir) { return state_dir + "/paused"; }

std::optional<Pause> read_pause(const std::string& state_dir, Seconds now) {
  const auto text = RealFileSystem().read(pause_file(state_dir));
  if (!text) return text.error().missing ? std::nullopt : std::optional(Pause{});
  const Pause pause{.until = time_of(*text, "until"),
                    .since = time_of(*text, "since"),
                    .by = user_word(line_of(*text, "by"))};
  if (pause.until > 0 && now >= pause.until) return std::nullopt;
  return pause;
}

std::string pause_text(const Pause& pause) {
  std::string text = fmt::format("until {}\n", pause.until);
  if (pause.since > 0) text += fmt::format("since {}\n", pause.since);
  if (const std::string by = user_word(pause.by); !by.empty()) text += fmt::format("by {}\n", by);
  return text;
}

std::string user_word(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-@+$").find(c) != std::string_view::npos;
  };
  const auto end = std::find_if_not(name.begin(), name.end(), plain);
  return std::string(name.substr(0, end - name.begin())).substr(0, kMaxUser);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace rubato {

std::string duration_text(Seconds length) {
  if (length >= kForever) return "unlimited";
  length = std::max<Seconds>(length, 0);
  const Seconds days = length / 86400;
  const Seconds rest = length % 86400;
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

std::string list_text(const std::vector<std::string>& words, std::size_t at_most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), at_most); ++i) {
    if (i > 0) text += ',';
    text += words[i];
  }
  if (words.size() > at_most) text += fmt::format(" and {} more", words.size() - at_most);
  return text;
}

}  // namespace rubato

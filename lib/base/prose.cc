// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/prose.h"

namespace rubato {

namespace {

constexpr std::size_t kWidth = 79;

}  // namespace

std::string wrapped(const std::string& text, const std::string& prefix) {
  std::string out;
  std::string line = prefix;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(at, end - at);
    if (line.size() > prefix.size() && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = prefix;
    }
    if (line.size() > prefix.size()) line += ' ';
    line += word;
    at = end + 1;
  }
  return out + line + "\n";
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out;
}

}  // namespace rubato

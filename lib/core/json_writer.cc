// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/core/json_writer.h"

#include <cmath>
#include <cstdint>

namespace rubato {
namespace {

// Length of the UTF-8 sequence at the beginning of `text`, 0 if it is not valid (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    length = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    length = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    length = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length) return 0;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return length;
}

bool plain(char c) {
  return static_cast<std::uint8_t>(c) >= 0x20 && static_cast<std::uint8_t>(c) < 0x7f && c != '"' &&
         c != '\\';
}

}  // namespace

void JsonWriter::value(double number) {
  comma();
  if (!std::isfinite(number)) {
    out_ += "null";
    return;
  }
  char digits[32];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Names of jobs may hold any bytes: what is not UTF-8 is written as U+FFFD, so that every reader
// accepts the text.
void JsonWriter::value(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  comma();
  out_ += '"';
  while (!text.empty()) {
    std::size_t run = 0;
    while (run < text.size() && plain(text[run])) ++run;
    out_.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    const char c = text.front();
    if (c == '"' || c == '\\') {
      out_ += '\\';
      out_ += c;
    } else if (c == '\n') {
      out_ += "\\n";
    } else if (c == '\t') {
      out_ += "\\t";
    } else if (static_cast<std::uint8_t>(c) < 0x20 || c == 0x7f) {
      out_ += "\\u00";
      out_ += kHex[(c >> 4) & 0xf];
      out_ += kHex[c & 0xf];
    } else {
      const std::size_t length = utf8_length(text);
      out_.append(length > 0 ? text.substr(0, length) : "\xef\xbf\xbd");
      text.remove_prefix(length > 0 ? length - 1 : 0);
    }
    text.remove_prefix(1);
  }
  out_ += '"';
}

}  // namespace rubato

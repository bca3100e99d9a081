// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/json_writer.h"

#include <cmath>
#include <cstdint>

#include "lib/base/text.h"

namespace rubato {
namespace {

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

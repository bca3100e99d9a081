// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/lex.h"

#include <fmt/format.h>

#include <utility>

#include "lib/base/nearest.h"
#include "lib/base/text.h"

namespace rubato {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

/// Text of joined lines, with the number of the line that each byte came from.
struct JoinedLine {
  std::string text;
  std::vector<int> line_of;

  void push(char c, int line) {
    text.push_back(c);
    line_of.push_back(line);
  }
};

/// Cuts at the first `#` that has an even number of backslashes before it.
std::string_view without_comment(std::string_view line) {
  bool escaped = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && !escaped) return line.substr(0, i);
    escaped = line[i] == '\\' && !escaped;
  }
  return line;
}

/// Takes a continuation off: an odd number of backslashes at the end, blanks behind them ignored.
/// Returns whether there was one.
bool take_continuation(std::string_view& line) {
  std::size_t end = line.size();
  while (end > 0 && is_space(line[end - 1])) --end;
  std::size_t slashes = 0;
  while (slashes < end && line[end - 1 - slashes] == '\\') ++slashes;
  if (slashes % 2 == 0) return false;
  line = line.substr(0, end - 1);
  return true;
}

/// Each backslash goes, the byte after it stays.
JoinedLine without_escapes(const JoinedLine& in) {
  JoinedLine out;
  for (std::size_t i = 0; i < in.text.size(); ++i) {
    if (in.text[i] == '\\' && ++i == in.text.size()) break;
    out.push(in.text[i], in.line_of[i]);
  }
  return out;
}

/// Reads the pairs of one joined line.
class LineReader {
 public:
  explicit LineReader(const JoinedLine& line) : text_(line.text), line_of_(line.line_of) {}

  ConfigLine read() {
    skip_space();
    if (read_include()) return std::move(out_);
    while (at_ < text_.size() && read_pair()) skip_space();
    return std::move(out_);
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  std::string_view word_from(std::size_t from) const {
    std::size_t end = from;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return text_.substr(from, end - from);
  }

  bool fail_at(std::size_t place, std::string why) {
    out_.error = std::move(why);
    out_.error_line = line_of_[place];
    return false;
  }

  bool read_include() {
    if (lower(text_.substr(at_, 7)) != "include") return false;
    std::size_t next = at_ + 7;
    if (next < text_.size() && !is_space(text_[next])) return false;
    while (next < text_.size() && is_space(text_[next])) ++next;
    if (next < text_.size() && text_[next] == '=') return false;
    const std::size_t start = at_;
    at_ = next;
    if (at_ == text_.size()) {
      fail_at(start, "Include: no file named; write Include FILE");
      return true;
    }
    std::string file;
    if (!read_value("Include", file)) return true;
    out_.include_line = line_of_[start];
    out_.include = std::move(file);
    skip_space();
    if (at_ < text_.size()) {
      fail_at(at_, fmt::format("{}: an Include line names one file", in_quotes(word_from(at_))));
    }
    return true;
  }

  bool read_pair() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_key_char(text_[at_])) ++at_;
    const std::string key(text_.substr(start, at_ - start));
    std::size_t equals = at_;
    while (equals < text_.size() && is_space(text_[equals])) ++equals;
    if (key.empty() || equals == text_.size()) return no_pair(start);
    if (std::string_view("+-*/").find(text_[equals]) != std::string_view::npos &&
        equals + 1 < text_.size() && text_[equals + 1] == '=') {
      return fail_at(
          start, fmt::format("{}: {}= is not supported; write {}=VALUE", key, text_[equals], key));
    }
    if (text_[equals] != '=') return no_pair(start);
    if (lower(key) == "include") {
      return fail_at(start, "Include: write Include FILE, without =");
    }
    at_ = equals + 1;
    skip_space();
    std::string value;
    if (at_ == text_.size()) {
      return fail_at(start, fmt::format("{}: no value after =", key));
    }
    if (!read_value(key, value)) return false;
    out_.pairs.push_back({key, std::move(value), line_of_[start]});
    return true;
  }

  bool no_pair(std::size_t start) {
    return fail_at(start, fmt::format("{}: expected Key=Value", in_quotes(word_from(start))));
  }

  bool read_value(const std::string& key, std::string& value) {
    const std::size_t start = at_;
    if (text_[at_] != '"') {
      value = word_from(at_);
      at_ += value.size();
      return true;
    }
    const std::size_t close = text_.find('"', at_ + 1);
    if (close == std::string_view::npos) {
      return fail_at(start, fmt::format("{}: no closing quote after {}", key,
                                        in_quotes(text_.substr(at_ + 1))));
    }
    value = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    if (at_ < text_.size() && !is_space(text_[at_])) {
      return fail_at(at_, fmt::format("{}: {} is directly after a closing quote", key,
                                      in_quotes(word_from(at_))));
    }
    return true;
  }

  std::string_view text_;
  const std::vector<int>& line_of_;
  std::size_t at_ = 0;
  ConfigLine out_;
};

/// Length of the valid UTF-8 sequence of more than one byte at `from`, or 0. The control characters
/// U+0080 to U+009F count as not valid.
std::size_t wide_length(std::string_view text, std::size_t from) {
  const auto second = from + 1 < text.size() ? static_cast<unsigned char>(text[from + 1]) : 0;
  if (static_cast<unsigned char>(text[from]) == 0xC2 && second < 0xA0) return 0;
  return utf8_length(text.substr(from));
}

}  // namespace

std::string printable(std::string_view word) {
  constexpr std::size_t kMaxLength = 60;
  std::string out;
  std::size_t i = 0;
  while (i < word.size() && i < kMaxLength) {
    const auto c = static_cast<unsigned char>(word[i]);
    const std::size_t wide = c >= 0x80 ? wide_length(word, i) : 0;
    if (wide > 0) {
      out += word.substr(i, wide);
      i += wide;
      continue;
    }
    if (c >= 0x20 && c < 0x7F) {
      out += static_cast<char>(c);
    } else {
      out += fmt::format("\\x{:02x}", c);
    }
    ++i;
  }
  return out + (i < word.size() ? "..." : "");
}

std::string in_quotes(std::string_view word) { return "\"" + printable(word) + "\""; }

std::vector<ConfigLine> lex_config(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark of some editors
  std::vector<ConfigLine> out;
  JoinedLine joined;
  const auto flush = [&] {
    const JoinedLine clean = without_escapes(joined);
    joined = {};
    ConfigLine line = LineReader(clean).read();
    if (line.include || line.error || !line.pairs.empty()) out.push_back(std::move(line));
  };
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view physical = without_comment(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    const bool continues = take_continuation(physical);
    for (const char c : physical) joined.push(c, number);
    if (!continues) flush();
  }
  flush();
  return out;
}

}  // namespace rubato

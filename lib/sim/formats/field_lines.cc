// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/formats/field_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <ios>
#include <iterator>

namespace rubato::sim {
namespace {

constexpr std::int64_t kMaxBytes = std::int64_t{256} << 20;
constexpr std::size_t kMaxShown = 40;

template <typename T>
bool parse_all(std::string_view text, T& value) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fail(
        fmt::format("{}: {}", path, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  }
  if (!S_ISREG(status.st_mode)) return fail(fmt::format("{}: not a regular file", path));
  if (status.st_size > kMaxBytes) return fail(fmt::format("{}: larger than 256 MiB", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(fmt::format("{}: cannot be read", path));
  // A read that fails midway throws, for example of /proc/self/mem.
  try {
    return std::string(std::istreambuf_iterator<char>(in), {});
  } catch (const std::ios_base::failure&) {
    return fail(fmt::format("{}: cannot be read", path));
  }
}

FieldLine::FieldLine(std::string_view text, char separator, const std::string& file,
                     std::size_t line)
    : text_(text), file_(file), line_(line) {
  std::size_t from = 0;
  while (true) {
    const std::size_t to = text.find(separator, from);
    fields_.push_back(text.substr(from, to - from));
    if (to == std::string_view::npos) break;
    from = to + 1;
  }
}

std::string_view FieldLine::text(std::size_t field) const {
  return field < fields_.size() ? fields_[field] : std::string_view{};
}

std::size_t FieldLine::column(std::size_t field) const {
  if (field >= fields_.size()) return text_.size() + 1;
  return static_cast<std::size_t>(fields_[field].data() - text_.data()) + 1;
}

tl::unexpected<Error> FieldLine::error(std::size_t field, std::string_view expected) const {
  const bool there = field < fields_.size();
  std::string found(text(field).substr(0, kMaxShown));
  for (char& c : found) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  found = there ? fmt::format("'{}'", found) : "the end of the line";
  return fail(
      fmt::format("{}:{}:{}: found {}, expected {}", file_, line_, column(field), found, expected));
}

Result<double> FieldLine::number(std::size_t field, double least, const char* what,
                                 double most) const {
  double value = 0;
  if (!parse_all(text(field), value) || !std::isfinite(value) || value < least) {
    return error(field, fmt::format("{}, a number from {} on", what, least));
  }
  if (value > most) return error(field, fmt::format("{}, at most {:.0f}", what, most));
  return value;
}

Result<std::int64_t> FieldLine::whole(std::size_t field, std::int64_t least, std::int64_t most,
                                      const char* what) const {
  std::int64_t value = 0;
  if (!parse_all(text(field), value) || value < least || value > most) {
    return error(field, fmt::format("{}, a whole number from {} to {}", what, least, most));
  }
  return value;
}

std::vector<NumberedLine> lines_of(std::string_view text) {
  std::vector<NumberedLine> lines;
  std::size_t number = 0;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark of some editors
  for (std::size_t from = 0; from < text.size();) {
    ++number;
    const std::size_t to = std::min(text.find('\n', from), text.size());
    std::string_view line = text.substr(from, to - from);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back({line, number});
    from = to + 1;
  }
  return lines;
}

}  // namespace rubato::sim

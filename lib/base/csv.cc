// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/csv.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <ios>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "lib/base/nearest.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxShown = 40;

/// `field` for an error: one line, not too long.
std::string shown(std::string_view field) {
  std::string out(field.substr(0, kMaxShown));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return field.size() > kMaxShown ? out + "..." : out;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<double> finite(std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

}  // namespace

/// Splits the text of one table.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string name) : text_(text) {
    table_.name_ = std::move(name);
  }

  Result<CsvTable> read() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = line_begin_ = 3;
    bool headed = false;
    while (at_ < text_.size()) {
      auto row = read_row();
      if (!row) return tl::unexpected(row.error());
      if (row->size() == 1 && row->front().text.empty() && !quoted_) continue;
      const auto taken = headed ? take(std::move(*row)) : take_headings(*row);
      if (!taken) return tl::unexpected(taken.error());
      headed = true;
    }
    if (!headed) return error(1, 1, "no heading: the first line names the columns");
    return std::move(table_);
  }

 private:
  using Field = CsvTable::Field;

  tl::unexpected<Error> error(std::size_t line, std::size_t column, std::string_view text) const {
    return fail(fmt::format("{}:{}:{}: {}", table_.name_, line, column, text));
  }
  [[nodiscard]] std::size_t column_here() const { return at_ - line_begin_ + 1; }

  /// Takes a line end off, if one is here.
  bool take_line_end() {
    const std::size_t length = text_.substr(at_, 2) == "\r\n"             ? 2
                               : at_ < text_.size() && text_[at_] == '\n' ? 1
                                                                          : 0;
    if (length == 0) return false;
    at_ += length;
    ++line_;
    line_begin_ = at_;
    return true;
  }

  Result<std::vector<Field>> read_row() {
    std::vector<Field> row;
    quoted_ = false;
    while (true) {
      Field field{{}, line_, column_here()};
      const bool quoted = at_ < text_.size() && text_[at_] == '"';
      const auto read = quoted ? read_quoted(field) : read_plain(field);
      if (!read) return tl::unexpected(read.error());
      row.push_back(std::move(field));
      if (at_ == text_.size() || take_line_end()) return row;
      ++at_;  // the comma
    }
  }

  Result<void> read_plain(Field& field) {
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' &&
           text_.substr(at_, 2) != "\r\n") {
      if (text_[at_] == '"') {
        return error(line_, column_here(),
                     "a quote inside a field; quote the whole field and double its quotes");
      }
      if (text_[at_] == '\0') return error(line_, column_here(), "a NUL; expected text");
      field.text += text_[at_++];
    }
    return {};
  }

  Result<void> read_quoted(Field& field) {
    quoted_ = true;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\0') return error(line_, column_here(), "a NUL; expected text");
      if (c == '"' && text_.substr(at_, 2) != "\"\"") {
        ++at_;
        if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' &&
            text_.substr(at_, 2) != "\r\n") {
          return error(line_, column_here(), "text after a quoted field; expected ','");
        }
        return {};
      }
      at_ += c == '"' ? 2 : 1;
      field.text += c;
      if (c == '\n') {
        ++line_;
        line_begin_ = at_;
      }
    }
    return error(field.line, field.column, "a quote that is not closed");
  }

  Result<void> take_headings(const std::vector<Field>& row) {
    std::set<std::string> seen;
    for (const Field& field : row) {
      if (!seen.insert(field.text).second) {
        return error(field.line, field.column,
                     fmt::format("column '{}' appears twice", shown(field.text)));
      }
      table_.headings_.push_back(field.text);
      table_.heading_places_.emplace_back(field.line, field.column);
    }
    return {};
  }

  Result<void> take(std::vector<Field> row) {
    const std::size_t expected = table_.headings_.size();
    if (row.size() != expected) {
      const Field& at = row[std::min(row.size() - 1, expected)];
      return error(at.line, at.column,
                   fmt::format("{} fields; expected {}, as in the heading", row.size(), expected));
    }
    table_.rows_.push_back(std::move(row));
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_begin_ = 0;
  bool quoted_ = false;  ///< the row has a quoted field
  CsvTable table_;
};

Result<CsvTable> CsvTable::parse(std::string_view text, std::string name) {
  return CsvReader(text, std::move(name)).read();
}

Result<CsvTable> CsvTable::read(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fail(fmt::format("{}: {}", path, std::generic_category().message(errno)));
  }
  if (!S_ISREG(status.st_mode)) return fail(fmt::format("{}: not a regular file", path));
  if (static_cast<std::size_t>(status.st_size) > kMaxBytes) {
    return fail(fmt::format("{}: larger than 256 MiB", path));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open())
    return fail(fmt::format("{}: {}", path, std::generic_category().message(errno)));
  std::string text;
  // A read that fails in the middle throws, as of /proc/self/mem.
  try {
    text.assign(std::istreambuf_iterator<char>(in), {});
  } catch (const std::ios_base::failure&) {
    return fail(fmt::format("{}: cannot be read", path));
  }
  return parse(text, path);
}

bool CsvTable::has(std::string_view heading) const {
  return std::find(headings_.begin(), headings_.end(), heading) != headings_.end();
}

Result<std::size_t> CsvTable::column(std::string_view heading) const {
  const auto at = std::find(headings_.begin(), headings_.end(), heading);
  if (at == headings_.end()) {
    // It is the file that is wrong: what it has comes second.
    const auto near = nearest(heading, headings_);
    return fail(fmt::format("{}:1:1: no column '{}'{}", name_, heading,
                            near ? fmt::format("; the heading has '{}'", *near) : ""));
  }
  return static_cast<std::size_t>(at - headings_.begin());
}

const std::string& CsvTable::text(std::size_t row, std::size_t column) const {
  return rows_[row][column].text;
}

tl::unexpected<Error> CsvTable::error(std::size_t row, std::size_t column,
                                      std::string_view text) const {
  const Field& field = rows_[row][column];
  return fail(fmt::format("{}:{}:{}: {} '{}': {}", name_, field.line, field.column,
                          headings_[column], shown(field.text), text));
}

tl::unexpected<Error> CsvTable::heading_error(std::size_t column, std::string_view text) const {
  const auto& [line, at] = heading_places_[column];
  return fail(fmt::format("{}:{}:{}: {}", name_, line, at, text));
}

Result<double> CsvTable::number(std::size_t row, std::size_t column) const {
  const auto value = finite(text(row, column));
  if (!value) return error(row, column, "expected a finite number");
  return *value;
}

Result<double> CsvTable::amount(std::size_t row, std::size_t column) const {
  const auto value = finite(text(row, column));
  if (!value || *value < 0) return error(row, column, "expected a number of at least 0");
  return *value;
}

Result<std::int64_t> CsvTable::whole(std::size_t row, std::size_t column) const {
  constexpr double kMax = 9007199254740992.0;  // 2^53: exact in a double
  const auto value = finite(text(row, column));
  if (!value || *value != std::floor(*value) || std::abs(*value) > kMax) {
    return error(row, column, "expected a whole number");
  }
  return static_cast<std::int64_t>(*value);
}

}  // namespace rubato

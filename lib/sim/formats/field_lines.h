// SPDX-License-Identifier: GPL-2.0-or-later
// Files with lines of separated, unquoted fields: traces, sacct output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace rubato::sim {

/// The text of a regular file of at most 256 MiB. The error names the file and the reason.
[[nodiscard]] Result<std::string> read_text(const std::string& path);

/// A line split into fields. Errors: "FILE:LINE:COLUMN: found 'FIELD', expected WHAT"; columns
/// count bytes from 1.
class FieldLine {
 public:
  FieldLine(std::string_view text, char separator, const std::string& file, std::size_t line);

  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  /// "" if the line has no such field.
  [[nodiscard]] std::string_view text(std::size_t field) const;
  /// Column of a field, in bytes from 1; for a missing field, the column after the line.
  [[nodiscard]] std::size_t column(std::size_t field) const;
  [[nodiscard]] std::size_t line() const { return line_; }
  /// The line from this field on.
  [[nodiscard]] std::string_view rest(std::size_t field) const {
    return text_.substr(std::min(text_.size(), column(field) - 1));
  }
  /// A finite number from `least` to `most`.
  [[nodiscard]] Result<double> number(std::size_t field, double least, const char* what,
                                      double most = std::numeric_limits<double>::max()) const;
  [[nodiscard]] Result<std::int64_t> whole(std::size_t field, std::int64_t least, std::int64_t most,
                                           const char* what) const;
  [[nodiscard]] tl::unexpected<Error> error(std::size_t field, std::string_view expected) const;

 private:
  std::string_view text_;
  const std::string& file_;
  std::size_t line_;
  std::vector<std::string_view> fields_;
};

/// Non-empty lines with their numbers from 1. LF and CRLF end a line.
struct NumberedLine {
  std::string_view text;
  std::size_t number = 0;
};
[[nodiscard]] std::vector<NumberedLine> lines_of(std::string_view text);

}  // namespace rubato::sim

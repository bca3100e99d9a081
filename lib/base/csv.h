// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of measurements and traces: comma-separated values with a heading (RFC 4180).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// A table in memory. Each row has a field for each heading. Fields may be in double quotes, in
/// which "" is a quote and line ends belong to the field; LF, CRLF and a byte order mark are taken;
/// empty lines are passed over. Blanks around a field stay.
///
/// All errors begin "FILE:LINE:COLUMN: " with the column counted in bytes from 1, and say what was
/// found and what was expected.
class CsvTable {
 public:
  /// `name` is the name of the file in errors. Refused: no heading, a heading twice, a row with
  /// another number of fields, a quote that is not closed or has text after it, a NUL.
  [[nodiscard]] static Result<CsvTable> parse(std::string_view text, std::string name);
  /// Reads a regular file of at most 256 MiB.
  [[nodiscard]] static Result<CsvTable> read(const std::string& path);

  /// The file, as errors call it.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  [[nodiscard]] const std::vector<std::string>& headings() const { return headings_; }
  [[nodiscard]] bool has(std::string_view heading) const;
  /// Number of the field under `heading`; the error names the nearest one that is there.
  [[nodiscard]] Result<std::size_t> column(std::string_view heading) const;

  /// `row` below rows(), `column` below headings().size().
  [[nodiscard]] const std::string& text(std::size_t row, std::size_t column) const;
  /// A finite number.
  [[nodiscard]] Result<double> number(std::size_t row, std::size_t column) const;
  /// A finite number of at least 0.
  [[nodiscard]] Result<double> amount(std::size_t row, std::size_t column) const;
  /// A whole number of at most 2^53 either way; "3.0" is one.
  [[nodiscard]] Result<std::int64_t> whole(std::size_t row, std::size_t column) const;

  /// An error at a field: "FILE:LINE:COLUMN: HEADING 'FIELD': TEXT".
  [[nodiscard]] tl::unexpected<Error> error(std::size_t row, std::size_t column,
                                            std::string_view text) const;
  /// An error at a heading: "FILE:LINE:COLUMN: TEXT".
  [[nodiscard]] tl::unexpected<Error> heading_error(std::size_t column,
                                                    std::string_view text) const;
  /// The line that a row begins on, from 1.
  [[nodiscard]] std::size_t line(std::size_t row) const { return rows_[row].front().line; }

 private:
  friend class CsvReader;
  struct Field {
    std::string text;
    std::size_t line = 1;
    std::size_t column = 1;
  };

  std::string name_;
  std::vector<std::string> headings_;
  std::vector<std::pair<std::size_t, std::size_t>> heading_places_;
  std::vector<std::vector<Field>> rows_;
};

}  // namespace rubato

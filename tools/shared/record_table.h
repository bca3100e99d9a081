// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of records: the columns come from the descriptions in lib/json/ (`v.column`).
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/json/column_visitor.h"
#include "lib/json/record_description.h"
#include "tools/shared/table.h"

namespace rubato::tools {

/// "35.2", "9%" or "2026-11-21T11:59:50".
[[nodiscard]] std::string cell_text(json::CellFormat format, double value);

/// Collects the columns of a record and its cells.
class ColumnCollector : public json::ColumnVisitor {
 public:
  [[nodiscard]] const std::vector<TableColumn>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<std::string>& cells() const { return cells_; }

  /// Adds the columns and cells of another record before the last column.
  void insert_before_last(const ColumnCollector& other);

  void column(const char* heading, json::CellFormat format, const std::string& value) {
    add(heading, format, value.empty() ? std::string(kNoValue) : value);
  }
  template <typename Number>
  requires std::integral<Number> || std::floating_point<Number>
  void column(const char* heading, json::CellFormat format, Number value) {
    add(heading, format, text_of(format, value));
  }
  template <typename Number>
  void column(const char* heading, json::CellFormat format, const std::optional<Number>& value) {
    add(heading, format, value ? text_of(format, *value) : std::string(kNoValue));
  }

 private:
  static constexpr std::string_view kNoValue = "-";

  template <typename Number>
  static std::string text_of(json::CellFormat format, Number value) {
    if (format == json::kNumberCell) return fmt::format("{}", value);
    return cell_text(format, static_cast<double>(value));
  }
  void add(const char* heading, json::CellFormat format, std::string text);

  std::vector<TableColumn> columns_;
  std::vector<std::string> cells_;
};

/// The columns and cells of one record.
template <typename Record>
[[nodiscard]] ColumnCollector cells_of(const Record& record) {
  ColumnCollector collector;
  describe(collector, record);
  return collector;
}

/// The table of rows that have the same columns; "" if there is no row.
[[nodiscard]] std::string table_of(const std::vector<ColumnCollector>& rows);

/// The table of records.
template <typename Record>
[[nodiscard]] std::string record_table(const std::vector<Record>& records) {
  std::vector<ColumnCollector> rows;
  for (const Record& record : records) rows.push_back(cells_of(record));
  return table_of(rows);
}

}  // namespace rubato::tools

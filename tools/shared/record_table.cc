// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/record_table.h"

#include "tools/shared/output.h"
#include "tools/shared/own_fields.h"

namespace rubato::tools {

std::string cell_text(json::CellFormat format, double value) {
  switch (format) {
    case json::kRateCell:
      return throughput_text(value);
    case json::kPercentCell:
      return fmt::format("{:.0f}%", value * 100);
    case json::kTenthsCell:
      return fmt::format("{:.1f}%", value * 100);
    case json::kRatioCell:
      return fmt::format("{:.2f}", value);
    case json::kTimeCell:
      return format_time(static_cast<Seconds>(value));
    case json::kTextCell:
    case json::kNumberCell:
      break;
  }
  return fmt::format("{}", value);
}

void ColumnCollector::insert_before_last(const ColumnCollector& other) {
  columns_.insert(columns_.end() - 1, other.columns_.begin(), other.columns_.end());
  cells_.insert(cells_.end() - 1, other.cells_.begin(), other.cells_.end());
}

void ColumnCollector::add(const char* heading, json::CellFormat format, std::string text) {
  const bool left = format == json::kTextCell || format == json::kTimeCell;
  columns_.push_back({heading, !left});
  cells_.push_back(std::move(text));
}

std::string table_of(const std::vector<ColumnCollector>& rows) {
  if (rows.empty()) return "";
  Table table(rows.front().columns());
  for (const ColumnCollector& row : rows) table.add(row.cells());
  return table.text();
}

}  // namespace rubato::tools

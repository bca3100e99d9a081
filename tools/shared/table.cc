// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/table.h"

#include <algorithm>

#include "tools/shared/output.h"

namespace rubato::tools {

std::string Table::text() const {
  std::vector<std::size_t> widths;
  std::vector<std::string> headings;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    headings.push_back(columns_[i].heading);
    widths.push_back(columns(columns_[i].heading));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], columns(row[i]));
  }
  const auto line_of = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string pad(widths[i] - columns(cells[i]), ' ');
      line += (i > 0 ? "  " : "") + (columns_[i].right ? pad + cells[i] : cells[i] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  std::string text = line_of(headings);
  for (const auto& row : rows_) text += line_of(row);
  return text;
}

}  // namespace rubato::tools

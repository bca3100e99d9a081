// SPDX-License-Identifier: GPL-2.0-or-later
// A table whose columns fit their values.
#pragma once

#include <string>
#include <vector>

namespace rubato::tools {

struct TableColumn {
  std::string heading;
  bool right = false;
};

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}

  /// A cell for each column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Lines with two blanks between columns, the headings first.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// rqueue's tables without a format option: columns fit their values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/shared/own_fields.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {

/// A column; `field` is a name for -O, of squeue or of Rubato.
struct LayoutColumn {
  const char* field;
  const char* heading;
  std::size_t least = 0;  ///< minimum width
  std::size_t most = 0;   ///< maximum width
  bool right = false;
  bool extra = false;  ///< shown only if all columns fit uncut
  int drop = 0;        ///< order of dropping in a narrow line: 1 first; 0 never
};

/// The last column gets the rest of the line.
using Layout = std::vector<LayoutColumn>;

[[nodiscard]] const Layout& short_layout();
[[nodiscard]] const Layout& long_layout();
[[nodiscard]] const Layout& start_layout();

/// The squeue fields of a layout, uncut, in column order.
[[nodiscard]] std::vector<FormatField> layout_fields(const Layout& layout);

struct TableOptions {
  std::optional<std::size_t> width;  ///< of a line; nullopt: unlimited
  bool headings = true;
  bool color = false;
};

/// One line per row. `facts[i]` belong to row i; the fields of a row begin with layout_fields().
[[nodiscard]] std::string layout_table(const Layout& layout, const std::vector<SqueueRow>& rows,
                                       const std::vector<JobFacts>& facts,
                                       const TableOptions& options);

}  // namespace rubato::tools

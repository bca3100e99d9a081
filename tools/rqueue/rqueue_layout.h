// SPDX-License-Identifier: GPL-2.0-or-later
// The tables that rqueue prints when no format is given: their columns fit their values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/shared/own_fields.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {

/// A column; `field` is a name of -O, of squeue or of Rubato.
struct LayoutColumn {
  const char* field;
  const char* heading;
  std::size_t least = 0;  ///< it is never made narrower
  std::size_t most = 0;   ///< nor wider, however long its texts are
  bool right = false;
  bool extra = false;  ///< only where all columns fit whole
  int drop = 0;        ///< left out of a line that is too narrow: 1 first; 0 never
};

/// The last column takes the rest of the line.
using Layout = std::vector<LayoutColumn>;

[[nodiscard]] const Layout& short_layout();
[[nodiscard]] const Layout& long_layout();
[[nodiscard]] const Layout& start_layout();

/// The fields of squeue that a layout needs, uncut, in the order of its columns.
[[nodiscard]] std::vector<FormatField> layout_fields(const Layout& layout);

struct TableOptions {
  std::optional<std::size_t> width;  ///< of a line; none: nothing is cut for it
  bool headings = true;
  bool color = false;
};

/// One line a row. `facts[i]` are those of row i; the fields of a row begin with layout_fields().
[[nodiscard]] std::string layout_table(const Layout& layout, const std::vector<SqueueRow>& rows,
                                       const std::vector<JobFacts>& facts,
                                       const TableOptions& options);

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// --sort with Rubato's fields among those of squeue.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {

struct SortKey {
  const OwnField* own = nullptr;  ///< null: squeue sorts by `letter`
  char letter = 0;
  bool down = false;  ///< Rubato's keys only; unknown values still come last
};

struct SortOrder {
  std::vector<SortKey> keys;
  std::string squeue;  ///< keys for squeue; "": its default

  [[nodiscard]] bool has_own() const;
};

/// squeue's letters, with or without commas, and names of Rubato's fields between commas:
/// "P,-dlrate".
[[nodiscard]] Result<SortOrder> parse_sort(std::string_view text);

/// Fields that sort_rows needs: those of the letters before the last Rubato key.
[[nodiscard]] std::vector<FormatField> sort_fields(const SortOrder& order);

/// Sorts rows that squeue has sorted by `order.squeue`. Stable. `first` is the index of
/// sort_fields(order) in the fields of a row. `facts[i]` belong to row i and are sorted with it.
void sort_rows(const SortOrder& order, std::size_t first, std::vector<SqueueRow>& rows,
               std::vector<JobFacts>& facts);

}  // namespace rubato::tools

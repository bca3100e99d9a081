// SPDX-License-Identifier: GPL-2.0-or-later
// --sort with fields of Rubato among those of squeue.
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
  bool down = false;  ///< own keys only; unknown values still come last
};

struct SortOrder {
  std::vector<SortKey> keys;
  std::string squeue;  ///< what squeue is asked to sort by; "": its default

  [[nodiscard]] bool has_own() const;
};

/// squeue's letters with or without commas, and names of Rubato's fields between commas:
/// "P,-dlrate".
[[nodiscard]] Result<SortOrder> parse_sort(std::string_view text);

/// Fields whose texts sort_rows needs, by letter of the keys before the last own one.
[[nodiscard]] std::vector<FormatField> sort_fields(const SortOrder& order);

/// Sorts rows that squeue has sorted by `order.squeue`. Stable. `first` is the place of
/// sort_fields(order) in the fields of a row; `facts[i]` are those of row i, and are sorted with
/// it.
void sort_rows(const SortOrder& order, std::size_t first, std::vector<SqueueRow>& rows,
               std::vector<JobFacts>& facts);

}  // namespace rubato::tools

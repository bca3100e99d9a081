// SPDX-License-Identifier: GPL-2.0-or-later
// The market for GPUs: what each job can have, and what that is worth. Numbers only: no job, node
// or model is known here.
#pragma once

#include <cstddef>
#include <vector>

namespace rubato {

/// One way for a job to run: GPUs of one pool, and its value. Values are of one unit for all jobs.
struct MarketRow {
  int pool = 0;      ///< index into Market::gpus
  int gpus = 0;      ///< above 0
  double value = 0;  ///< against having nothing, which is worth 0; below 0 is never taken
};

/// The rows of a job. At most one of them is taken.
struct MarketJob {
  std::vector<MarketRow> rows;
  int stays = -1;  ///< the row it holds now, which goes before others of equal value; -1: none
};

/// Who wants what.
struct Market {
  std::vector<int> gpus;  ///< of each pool
  std::vector<MarketJob> jobs;
};

/// No row: the job waits.
inline constexpr int kNoRow = -1;

/// Who gets what.
struct Allocation {
  std::vector<int> row;  ///< by job, kNoRow or an index into its rows
  /// What a GPU of each pool costs, in the unit of the values; 0 where all that is wanted fits.
  std::vector<double> price;
};

/// The value of a row; 0 for kNoRow.
[[nodiscard]] inline double value_of(const MarketJob& job, int row) {
  return row == kNoRow ? 0 : job.rows[static_cast<std::size_t>(row)].value;
}

/// GPUs of `pool` that the row takes; 0 for kNoRow.
[[nodiscard]] inline int gpus_in(const MarketJob& job, int row, int pool) {
  if (row == kNoRow) return 0;
  const MarketRow& taken = job.rows[static_cast<std::size_t>(row)];
  return taken.pool == pool ? taken.gpus : 0;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The assignment problem, solved exactly.
#pragma once

#include <limits>
#include <vector>

namespace rubato {

/// A pair that must not be.
inline constexpr double kForbidden = std::numeric_limits<double>::infinity();

/// Costs of giving `columns` to `rows`, row by row; finite or kForbidden.
struct Costs {
  int rows = 0;
  int columns = 0;
  std::vector<double> cost;  ///< rows * columns

  Costs(int row_count, int column_count)
      : rows(row_count),
        columns(column_count),
        cost(static_cast<std::size_t>(row_count) * static_cast<std::size_t>(column_count),
             kForbidden) {}
  [[nodiscard]] double& at(int row, int column) {
    return cost[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                static_cast<std::size_t>(column)];
  }
  [[nodiscard]] double at(int row, int column) const {
    return cost[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                static_cast<std::size_t>(column)];
  }
};

/// The column of each row, or -1 for a row that goes without, which costs `without[row]` (finite).
/// No column twice; the sum of all costs is least. The same costs give the same answer.
///
/// `run`: the columns come in runs of that many, in which the costs of each row never fall. Then
/// only the first free column of a run is looked at, with the same answer. `columns` is a multiple
/// of it. 1: nothing is known of the costs.
///
/// Successive shortest paths with potentials (Jonker & Volgenant, Computing 38, 1987),
/// O(rows^2 columns), with runs O(rows^2 (rows + columns / run)).
[[nodiscard]] std::vector<int> assign(const Costs& costs, const std::vector<double>& without,
                                      int run = 1);

}  // namespace rubato

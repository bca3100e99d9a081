// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/assign.h"

#include <cstddef>

namespace rubato {
namespace {

// Each row has a column of its own beyond the given ones, for going without. Rows are added one at
// a time; each finds the cheapest alternating path to a free column. Reduced costs
// cost - u[row] - v[column] stay at least 0, and 0 on the pairs chosen. Rows and columns count from
// 1; column 0 stands for the row that is being added.
class Solver {
 public:
  Solver(const Costs& costs, const std::vector<double>& without)
      : costs_(costs),
        without_(without),
        columns_(costs.columns + costs.rows),
        u_(size(costs.rows), 0),
        v_(size(columns_), 0),
        row_of_(size(columns_), 0),
        came_from_(size(columns_), 0) {}

  void add(int row) {
    row_of_[0] = row;
    std::vector<double> distance(size(columns_), kForbidden);
    std::vector<bool> done(size(columns_), false);
    int column = 0;
    do {
      done[index(column)] = true;
      column = next(column, distance, done);
    } while (row_of_[index(column)] != 0);
    while (column != 0) {
      const int previous = came_from_[index(column)];
      row_of_[index(column)] = row_of_[index(previous)];
      column = previous;
    }
  }

  [[nodiscard]] std::vector<int> answer() const {
    std::vector<int> column_of(static_cast<std::size_t>(costs_.rows), -1);
    for (int column = 1; column <= costs_.columns; ++column) {
      const int row = row_of_[index(column)];
      if (row > 0) column_of[index(row - 1)] = column - 1;
    }
    return column_of;
  }

 private:
  static std::size_t size(int count) { return static_cast<std::size_t>(count) + 1; }
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  [[nodiscard]] double cost(int row, int column) const {
    if (column <= costs_.columns) return costs_.at(row - 1, column - 1);
    if (column == costs_.columns + row) return without_[index(row - 1)];
    return kForbidden;
  }

  // Looks from the row that holds `column`, then moves on to the nearest column not yet done and
  // shifts the potentials by its distance. There always is one: the row's own.
  int next(int column, std::vector<double>& distance, const std::vector<bool>& done) {
    const int row = row_of_[index(column)];
    double least = kForbidden;
    int nearest = 0;
    for (int j = 1; j <= columns_; ++j) {
      if (done[index(j)]) continue;
      const double reduced = cost(row, j) - u_[index(row)] - v_[index(j)];
      if (reduced < distance[index(j)]) {
        distance[index(j)] = reduced;
        came_from_[index(j)] = column;
      }
      if (distance[index(j)] < least) {
        least = distance[index(j)];
        nearest = j;
      }
    }
    for (int j = 0; j <= columns_; ++j) {
      if (done[index(j)]) {
        u_[index(row_of_[index(j)])] += least;
        v_[index(j)] -= least;
      } else {
        distance[index(j)] -= least;
      }
    }
    return nearest;
  }

  const Costs& costs_;
  const std::vector<double>& without_;
  int columns_;                 ///< given ones and one a row
  std::vector<double> u_;       ///< by row, from 1
  std::vector<double> v_;       ///< by column, from 1
  std::vector<int> row_of_;     ///< by column; 0: free
  std::vector<int> came_from_;  ///< by column, on the path
};

}  // namespace

std::vector<int> assign(const Costs& costs, const std::vector<double>& without) {
  Solver solver(costs, without);
  for (int row = 1; row <= costs.rows; ++row) solver.add(row);
  return solver.answer();
}

}  // namespace rubato

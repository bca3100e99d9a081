// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/assign.h"

#include <algorithm>
#include <cstddef>

namespace rubato {
namespace {

// Each row has a column of its own beyond the given ones, for going without. Rows are added one at
// a time; each finds the cheapest alternating path to a free column. Reduced costs
// cost - u[row] - v[column] stay at least 0, and 0 on the pairs chosen. Rows and columns count from
// 1; column 0 stands for the row that is being added.
class Solver {
 public:
  Solver(const Costs& costs, const std::vector<double>& without, int run)
      : costs_(costs),
        without_(without),
        run_(run),
        u_(size(costs.rows), 0),
        v_(size(costs.columns + costs.rows), 0),
        row_of_(size(costs.columns + costs.rows), 0),
        came_from_(size(costs.columns + costs.rows), 0),
        distance_(size(costs.columns + costs.rows), kForbidden) {}

  void add(int row) {
    row_of_[0] = row;
    tree_.clear();
    own_.clear();
    open_ = candidates();
    for (const int column : open_) distance_[index(column)] = kForbidden;
    int column = 0;
    do {
      tree_.push_back(column);
      look_from(column);
      column = move_on();
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

  // The given columns up to the first free one of each run. A free column has potential 0, so the
  // columns behind it are no nearer, and a path ends at the first free one. That one was in no tree
  // before, so with potential 0 for the columns behind it no reduced cost falls below 0.
  [[nodiscard]] std::vector<int> candidates() const {
    std::vector<int> columns;
    for (int first = 1; first <= costs_.columns; first += run_) {
      for (int column = first; column < first + run_; ++column) {
        columns.push_back(column);
        if (row_of_[index(column)] == 0) break;
      }
    }
    return columns;
  }

  // Distances by way of the row that holds `column`. Of the columns for going without, only the
  // row's own can be reached from it.
  void look_from(int column) {
    const int row = row_of_[index(column)];
    const double u = u_[index(row)];
    const double* cost =
        costs_.columns > 0 ? &costs_.cost[index((row - 1)) * index(costs_.columns)] : nullptr;
    for (const int j : open_) {
      const double reduced = cost[j - 1] - u - v_[index(j)];
      if (reduced >= distance_[index(j)]) continue;
      distance_[index(j)] = reduced;
      came_from_[index(j)] = column;
    }
    const int own = costs_.columns + row;
    // A column for going without is held by its own row only, so it is no way to others.
    distance_[index(own)] = without_[index(row - 1)] - u - v_[index(own)];
    came_from_[index(own)] = column;
    own_.insert(std::lower_bound(own_.begin(), own_.end(), own), own);
  }

  // The nearest column that is not in the tree, at equal distance the first; shifts the potentials
  // of the tree by its distance. There always is one: the row's own.
  int move_on() {
    std::vector<int>* from = &own_;
    std::size_t at = 0;
    double least = kForbidden;
    for (std::vector<int>* columns : {&open_, &own_})
      for (std::size_t i = 0; i < columns->size(); ++i) {
        const double distance = distance_[index((*columns)[i])];
        if (distance >= least) continue;
        least = distance;
        from = columns;
        at = i;
      }
    for (const int column : tree_) {
      u_[index(row_of_[index(column)])] += least;
      v_[index(column)] -= least;
    }
    for (const std::vector<int>* columns : {&open_, &own_})
      for (const int column : *columns) distance_[index(column)] -= least;
    const int nearest = (*from)[at];
    from->erase(from->begin() + static_cast<std::ptrdiff_t>(at));
    return nearest;
  }

  const Costs& costs_;
  const std::vector<double>& without_;
  int run_;                       ///< length of the runs of columns
  std::vector<double> u_;         ///< by row, from 1
  std::vector<double> v_;         ///< by column: the given ones from 1, then one a row
  std::vector<int> row_of_;       ///< by column; 0: free
  std::vector<int> came_from_;    ///< by column, on the path
  std::vector<double> distance_;  ///< by column, on the path
  std::vector<int> tree_;         ///< columns whose rows were looked from
  std::vector<int> open_;         ///< given columns not in the tree, ascending
  std::vector<int> own_;          ///< reached columns for going without, not in the tree, ascending
};

}  // namespace

std::vector<int> assign(const Costs& costs, const std::vector<double>& without, int run) {
  Solver solver(costs, without, run);
  for (int row = 1; row <= costs.rows; ++row) solver.add(row);
  return solver.answer();
}

}  // namespace rubato

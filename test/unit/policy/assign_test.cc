// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/assign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace rubato {
namespace {

double total(const Costs& costs, const std::vector<double>& without, const std::vector<int>& to) {
  double sum = 0;
  for (int row = 0; row < costs.rows; ++row) {
    const int column = to[static_cast<std::size_t>(row)];
    sum += column < 0 ? without[static_cast<std::size_t>(row)] : costs.at(row, column);
  }
  return sum;
}

double brute_force(const Costs& costs, const std::vector<double>& without, int row,
                   std::set<int>& taken) {
  if (row == costs.rows) return 0;
  double best =
      without[static_cast<std::size_t>(row)] + brute_force(costs, without, row + 1, taken);
  for (int column = 0; column < costs.columns; ++column) {
    if (costs.at(row, column) == kForbidden || !taken.insert(column).second) continue;
    best = std::min(best, costs.at(row, column) + brute_force(costs, without, row + 1, taken));
    taken.erase(column);
  }
  return best;
}

TEST(Assign, ARowGivesItsBestColumnToOneThatNeedsItMore) {
  Costs costs(2, 2);
  costs.at(0, 0) = 1;
  costs.at(0, 1) = 2;
  costs.at(1, 0) = 1;
  costs.at(1, 1) = 9;
  EXPECT_EQ(assign(costs, {100, 100}), (std::vector<int>{1, 0}));
}

TEST(Assign, GoingWithoutIsChosenWhenItIsCheaper) {
  Costs costs(2, 1);
  costs.at(0, 0) = 1;
  costs.at(1, 0) = 1;
  EXPECT_EQ(assign(costs, {5, 6}), (std::vector<int>{-1, 0}));
  EXPECT_EQ(assign(costs, {0, 0}), (std::vector<int>{-1, -1}));
}

TEST(Assign, NothingToGive) {
  EXPECT_EQ(assign(Costs(2, 0), {1, 1}), (std::vector<int>{-1, -1}));
  EXPECT_TRUE(assign(Costs(0, 3), {}).empty());
  EXPECT_EQ(assign(Costs(1, 3), {4}), (std::vector<int>{-1})) << "all forbidden";
}

TEST(Assign, IsAsGoodAsBruteForce) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    Costs costs(static_cast<int>(random() % 7), static_cast<int>(random() % 6));
    // Few distinct integers: many ties, and exact sums.
    for (double& cost : costs.cost) {
      if (random() % 4 != 0) cost = static_cast<double>(random() % 12) - 3;
    }
    std::vector<double> without;
    for (int row = 0; row < costs.rows; ++row)
      without.push_back(static_cast<double>(random() % 12));
    const std::vector<int> to = assign(costs, without);
    ASSERT_EQ(to.size(), static_cast<std::size_t>(costs.rows));
    std::set<int> used;
    for (const int column : to) {
      ASSERT_LT(column, costs.columns);
      if (column >= 0) {
        ASSERT_TRUE(used.insert(column).second);
      }
    }
    std::set<int> taken;
    ASSERT_EQ(total(costs, without, to), brute_force(costs, without, 0, taken));
  }
}

// With distinct costs the best answer is one only, and ties inside a run are taken in order.
TEST(Assign, RunsOfRisingCostsGiveTheSameAnswer) {
  std::mt19937 random(12);
  for (int round = 0; round < 2000; ++round) {
    const int rows = static_cast<int>(random() % 9);
    const int run = static_cast<int>(random() % 9) + 1;
    const int runs = static_cast<int>(random() % 4);
    Costs costs(rows, runs * run);
    for (int row = 0; row < rows; ++row) {
      for (int group = 0; group < runs; ++group) {
        if (random() % 5 == 0) continue;
        double cost = static_cast<double>(random() % 100000);
        for (int place = 0; place < run; ++place) {
          costs.at(row, group * run + place) = cost;
          cost += random() % 6 == 0 ? 0 : static_cast<double>(random() % 100000);
        }
      }
    }
    std::vector<double> without;
    for (int row = 0; row < rows; ++row)
      without.push_back(static_cast<double>(random() % 400000) + .5);
    ASSERT_EQ(assign(costs, without, run), assign(costs, without)) << "round " << round;
  }
}

}  // namespace
}  // namespace rubato

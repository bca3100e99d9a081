// SPDX-License-Identifier: GPL-2.0-or-later
// Least squares with non-negative coefficients, compared with all active sets.
#include "lib/model/numeric/nnls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <eigen3/Eigen/Dense>
#include <limits>
#include <random>
#include <vector>

namespace rubato::test {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double objective(const MatrixXd& a, const VectorXd& b, const Ridge& ridge, const VectorXd& x) {
  double value = (a * x - b).squaredNorm();
  for (Index j = 0; j < x.size(); ++j) {
    const double mean = ridge.mean.size() > 0 ? ridge.mean(j) : 0;
    const double weight = ridge.weight.size() > 0 ? ridge.weight(j) : 0;
    value += weight * (x(j) - mean) * (x(j) - mean);
  }
  return value;
}

// The best least-squares solution over all column subsets that is non-negative.
double brute_force(const MatrixXd& a, const VectorXd& b, const Ridge& ridge) {
  const Index n = a.cols();
  double best = std::numeric_limits<double>::infinity();
  for (unsigned set = 0; set < (1U << n); ++set) {
    std::vector<Index> columns;
    for (Index j = 0; j < n; ++j)
      if ((set & (1U << j)) != 0) columns.push_back(j);
    const auto k = static_cast<Index>(columns.size());
    MatrixXd part = MatrixXd::Zero(a.rows() + k, k);
    VectorXd right = VectorXd::Zero(a.rows() + k);
    right.head(a.rows()) = b;
    for (Index i = 0; i < k; ++i) {
      const Index j = columns[static_cast<std::size_t>(i)];
      part.col(i).head(a.rows()) = a.col(j);
      if (ridge.weight.size() == 0) continue;
      part(a.rows() + i, i) = std::sqrt(ridge.weight(j));
      right(a.rows() + i) = std::sqrt(ridge.weight(j)) * ridge.mean(j);
    }
    VectorXd x = VectorXd::Zero(n);
    if (k > 0) {
      const VectorXd solved = part.completeOrthogonalDecomposition().solve(right);
      for (Index i = 0; i < k; ++i) x(columns[static_cast<std::size_t>(i)]) = solved(i);
    }
    if (x.minCoeff() < -1e-9) continue;
    best = std::min(best, objective(a, b, ridge, x.cwiseMax(0)));
  }
  return best;
}

TEST(Nnls, EqualsTheBestOfAllActiveSets) {
  std::mt19937 random(7);  // the same 600 problems in every run
  std::normal_distribution<double> normal;
  for (int round = 0; round < 600; ++round) {
    const Index m = 1 + static_cast<Index>(random() % 12);
    const Index n = 1 + static_cast<Index>(random() % 7);
    MatrixXd a = MatrixXd::NullaryExpr(m, n, [&] { return normal(random); });
    if (round % 3 == 0 && n > 1) a.col(n - 1) = 2 * a.col(0);  // collinear
    if (round % 5 == 0) a.col(0).setZero();
    const VectorXd b = VectorXd::NullaryExpr(m, [&] { return normal(random); });
    Ridge ridge;
    if (round % 2 == 0) {
      ridge.mean = VectorXd::NullaryExpr(n, [&] { return std::abs(normal(random)); });
      ridge.weight = VectorXd::NullaryExpr(n, [&] { return 0.01 + std::abs(normal(random)); });
    }
    const NnlsResult found = nnls(a, b, ridge);
    ASSERT_TRUE(found.solved) << "round " << round;
    ASSERT_GE(found.x.minCoeff(), 0) << "round " << round;
    const double best = brute_force(a, b, ridge);
    EXPECT_LE(objective(a, b, ridge, found.x), best + 1e-6 * (1 + b.squaredNorm()))
        << "round " << round;
  }
}

TEST(Nnls, KeepsTheSumOfCollinearColumnsAndSharesIt) {
  MatrixXd a(4, 2);
  a << 1, 1, 2, 2, 3, 3, 4, 4;
  const VectorXd b = 6 * a.col(0);
  const NnlsResult found = nnls(a, b);
  ASSERT_TRUE(found.solved);
  EXPECT_NEAR(found.x.sum(), 6, 1e-6);
  EXPECT_NEAR(found.x(0), 3, 0.01);
  EXPECT_NEAR(found.x(1), 3, 0.01);
}

TEST(Nnls, UnitsOfColumnsDoNotMatter) {
  MatrixXd a(3, 2);
  a << 1e9, 1e-9, 2e9, 5e-9, 3e9, 7e-9;
  VectorXd x(2);
  x << 4e-9, 3e9;
  const NnlsResult found = nnls(a, a * x);
  ASSERT_TRUE(found.solved);
  EXPECT_NEAR(found.x(0) / x(0), 1, 1e-5);
  EXPECT_NEAR(found.x(1) / x(1), 1, 1e-5);
}

TEST(Nnls, WhatIsNotFiniteIsNotSolvedAndGivesZeros) {
  MatrixXd a = MatrixXd::Ones(3, 2);
  VectorXd b = VectorXd::Ones(3);
  a(1, 1) = std::numeric_limits<double>::quiet_NaN();
  NnlsResult found = nnls(a, b);
  EXPECT_FALSE(found.solved);
  EXPECT_EQ(found.x, VectorXd::Zero(2));
  a(1, 1) = 1;
  b(0) = std::numeric_limits<double>::infinity();
  found = nnls(a, b);
  EXPECT_FALSE(found.solved);
  EXPECT_FALSE(nnls(a, VectorXd::Ones(2)).solved) << "sizes differ";
  EXPECT_FALSE(nnls(MatrixXd(3, 0), b).solved);
}

}  // namespace
}  // namespace rubato::test

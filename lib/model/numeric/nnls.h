// SPDX-License-Identifier: GPL-2.0-or-later
// Least squares with non-negative coefficients.
#pragma once

#include <eigen3/Eigen/Core>

namespace rubato {

/// A ridge: adds the sum of weight_j (x_j - mean_j)^2 to the objective. Either may be empty. An
/// empty mean is 0. An empty weight is kMinRidge of the column's square, which only decides between
/// solutions that fit the rows equally.
struct Ridge {
  Eigen::VectorXd mean;    ///< one per column, at least 0
  Eigen::VectorXd weight;  ///< one per column, at least 0
};

/// Minimum ridge weight relative to a column's square. Columns that are multiples of each other
/// then each get a part, and their sum still fits the rows.
inline constexpr double kMinRidge = 1e-9;

struct NnlsResult {
  Eigen::VectorXd x;    ///< finite, none below 0
  double residual = 0;  ///< |A x - b|, without the ridge
  bool solved = false;  ///< false: an input was not finite, or the search did not end; x is still
                        ///< feasible
};

/// Minimises |A x - b|^2 and the ridge over x >= 0: the active-set method of Lawson & Hanson,
/// Solving Least Squares Problems, 1974, chapter 23, on the triangle of one QR decomposition of A.
/// Scales columns first, so their units do not matter. A column of zeros gets the mean of its
/// ridge, or 0. Deterministic.
[[nodiscard]] NnlsResult nnls(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                              const Ridge& ridge = {});

}  // namespace rubato

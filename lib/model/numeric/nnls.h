// SPDX-License-Identifier: GPL-2.0-or-later
// Least squares with coefficients that are not below 0.
#pragma once

#include <eigen3/Eigen/Core>

namespace rubato {

/// What the coefficients are drawn to, and how strongly: sum of weight_j (x_j - mean_j)^2 is added
/// to what is minimised. Either may be empty: no mean is 0, no weight is kMinRidge of the
/// column's own square, which only decides between solutions that the rows cannot tell apart.
struct Ridge {
  Eigen::VectorXd mean;    ///< one per column, at least 0
  Eigen::VectorXd weight;  ///< one per column, at least 0
};

/// Share of a column's square that is the least weight of its ridge: of columns that are multiples
/// of each other each gets a part, and their sum stays what the rows say.
inline constexpr double kMinRidge = 1e-9;

struct NnlsResult {
  Eigen::VectorXd x;    ///< finite, none below 0
  double residual = 0;  ///< |A x - b|, without the ridge
  bool solved = false;  ///< false: something was not finite, or the search did not end; x is still
                        ///< feasible
};

/// Minimises |A x - b|^2 and the ridge over x >= 0: the active-set method of Lawson & Hanson,
/// Solving Least Squares Problems, 1974, chapter 23, on the triangle that is left of A after one
/// QR decomposition. Columns are scaled first, so their units do not matter. A column of zeros
/// gets the mean of its ridge, or 0. Same input, same bytes.
[[nodiscard]] NnlsResult nnls(const Eigen::MatrixXd& a, const Eigen::VectorXd& b,
                              const Ridge& ridge = {});

}  // namespace rubato

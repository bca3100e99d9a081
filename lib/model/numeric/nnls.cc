// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/numeric/nnls.h"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/QR>
#include <vector>

namespace rubato {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of the gradient, relative to its maximum at x = 0.
constexpr double kTolerance = 1e-12;

// The rows of A and b, plus one ridge row per column.
struct Rows {
  MatrixXd a;
  VectorXd b;
};

VectorXd or_zero(const VectorXd& values, Index size) {
  return values.size() == size ? values : VectorXd::Zero(size);
}

Rows with_ridge(const MatrixXd& a, const VectorXd& b, const Ridge& ridge) {
  const Index m = a.rows();
  const Index n = a.cols();
  Rows rows{MatrixXd::Zero(m + n, n), VectorXd::Zero(m + n)};
  rows.a.topRows(m) = a;
  rows.b.head(m) = b;
  const VectorXd mean = or_zero(ridge.mean, n).cwiseMax(0);
  const VectorXd weight = or_zero(ridge.weight, n).cwiseMax(0);
  for (Index j = 0; j < n; ++j) {
    const double least = kMinRidge * a.col(j).squaredNorm();
    const double root = std::sqrt(std::max(weight(j), least));
    rows.a(m + j, j) = root;
    rows.b(m + j) = root * mean(j);
  }
  return rows;
}

// An equivalent problem, up to a constant, with as many rows as columns.
Rows triangle(const Rows& rows) {
  const Index n = rows.a.cols();
  const Eigen::HouseholderQR<MatrixXd> qr(rows.a);
  const VectorXd rotated = qr.householderQ().transpose() * rows.b;
  Rows small{MatrixXd::Zero(n, n), rotated.head(n)};
  small.a.triangularView<Eigen::Upper>() = qr.matrixQR().topRows(n);
  return small;
}

class ActiveSet {
 public:
  explicit ActiveSet(const Rows& rows)
      : a_(rows.a),
        b_(rows.b),
        x_(VectorXd::Zero(rows.a.cols())),
        free_(static_cast<std::size_t>(rows.a.cols()), false) {}

  // False if the search did not end.
  bool run() {
    const VectorXd start = a_.transpose() * b_;
    const double enough = kTolerance * std::max(start.cwiseAbs().maxCoeff(), 1e-300);
    const int most = 10 * static_cast<int>(a_.cols()) + 10;
    for (int i = 0; i < most; ++i) {
      const VectorXd gradient = a_.transpose() * (b_ - a_ * x_);
      Index best = -1;
      for (Index j = 0; j < a_.cols(); ++j) {
        if (is_free(j) || gradient(j) <= enough) continue;
        if (best < 0 || gradient(j) > gradient(best)) best = j;
      }
      if (best < 0) return true;
      set_free(best, true);
      if (!settle(best)) return true;
    }
    return false;
  }
  [[nodiscard]] const VectorXd& x() const { return x_; }

 private:
  [[nodiscard]] bool is_free(Index j) const { return free_[static_cast<std::size_t>(j)]; }
  void set_free(Index j, bool free) { free_[static_cast<std::size_t>(j)] = free; }

  // Least squares over the free columns; 0 elsewhere.
  [[nodiscard]] VectorXd solution() const {
    std::vector<Index> columns;
    for (Index j = 0; j < a_.cols(); ++j)
      if (is_free(j)) columns.push_back(j);
    MatrixXd part(a_.rows(), static_cast<Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i)
      part.col(static_cast<Index>(i)) = a_.col(columns[i]);
    const VectorXd solved = part.colPivHouseholderQr().solve(b_);
    VectorXd all = VectorXd::Zero(a_.cols());
    for (std::size_t i = 0; i < columns.size(); ++i)
      all(columns[i]) = solved(static_cast<Index>(i));
    return all;
  }

  // Moves x to the solution over the free columns; binds columns that would fall below 0. False if
  // `fresh`, the column just freed, is bound at once: only rounding freed it.
  bool settle(Index fresh) {
    while (true) {
      const VectorXd wanted = solution();
      double step = 1;
      for (Index j = 0; j < x_.size(); ++j) {
        if (!is_free(j) || wanted(j) > 0) continue;
        step = std::min(step, x_(j) / (x_(j) - wanted(j)));
      }
      if (!std::isfinite(step)) step = 0;
      if (step >= 1) {
        x_ = wanted;
        return true;
      }
      x_ += step * (wanted - x_);
      bool bound = false;
      for (Index j = 0; j < x_.size(); ++j) {
        if (!is_free(j) || (wanted(j) > 0 || x_(j) > 1e-14 * x_.maxCoeff())) continue;
        set_free(j, false);
        x_(j) = 0;
        bound = true;
        if (j == fresh && step == 0) return false;
      }
      if (!bound) return false;
    }
  }

  const MatrixXd& a_;
  const VectorXd& b_;
  VectorXd x_;
  std::vector<bool> free_;
};

}  // namespace

NnlsResult nnls(const MatrixXd& a, const VectorXd& b, const Ridge& ridge) {
  const Index n = a.cols();
  NnlsResult result{VectorXd::Zero(n), b.norm(), false};
  if (n == 0 || b.size() != a.rows()) return result;
  const Rows rows = with_ridge(a, b, ridge);
  if (!rows.a.allFinite() || !rows.b.allFinite()) return result;
  VectorXd scale = rows.a.colwise().norm();
  for (Index j = 0; j < n; ++j)
    if (!(scale(j) > 0)) scale(j) = 1;
  if (!scale.allFinite()) return result;
  const Rows scaled{rows.a * scale.cwiseInverse().asDiagonal(), rows.b};
  const Rows small = triangle(scaled);
  ActiveSet search(small);
  result.solved = search.run();
  const VectorXd x = search.x().cwiseMax(0).cwiseQuotient(scale);
  if (!x.allFinite()) {
    result.solved = false;
    return result;
  }
  result.x = x;
  result.residual = (a * x - b).norm();
  return result;
}

}  // namespace rubato

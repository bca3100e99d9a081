// SPDX-License-Identifier: GPL-2.0-or-later
// Path following on the primal-dual system of the log barrier. Newton steps at each level of the
// barrier lead to its centre. Rows with many terms (capacities) are kept out of the normal matrix,
// so that it stays as sparse as the jobs are independent.
#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Sparse>
#include <eigen3/Eigen/SparseCholesky>

#include "lib/sim/solver/lp.h"

namespace rubato::sim {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::SparseMatrix<double>;

constexpr double kFirstLevel = 1.0;
constexpr double kLastLevel = 1e-9;
/// Below this level, a solution is accepted even if numerical errors stop further steps.
constexpr double kGoodLevel = 1e-6;
constexpr double kNextLevel = 0.2;
constexpr int kMaxSteps = 12;       ///< Newton steps per level
constexpr double kCentred = 1e-3;   ///< largest relative distance of s z from the level
constexpr double kEndless = 1e15;   ///< times the start: further than any optimum
constexpr double kDamping = 1e-13;  ///< added to the diagonal, relative to it
constexpr double kLost = 2;         ///< times the gap before, or the gap of the level

class PathFollower {
 public:
  explicit PathFollower(const LinearProgram& linear_program)
      : n_(static_cast<int>(linear_program.objective.size())),
        m_(static_cast<int>(linear_program.rows.size())),
        c_(Eigen::Map<const Vector>(linear_program.objective.data(), n_)) {
    std::vector<Eigen::Triplet<double>> entries;
    bounds_.resize(m_);
    dense_.resize(m_);
    int row = 0;
    for (const LinearProgram::Row& from : linear_program.rows) {
      bounds_[row] = from.bound;
      dense_[row] = from.terms.size() > kSparse;
      for (const auto& [variable, factor] : from.terms) {
        entries.emplace_back(row, variable.value(), factor);
      }
      ++row;
    }
    rows_.resize(m_, n_);
    rows_.setFromTriplets(entries.begin(), entries.end());
    x_ = Eigen::Map<const Vector>(linear_program.start.data(), n_);
    const double largest = c_.cwiseAbs().maxCoeff();
    if (largest > 0) c_ /= largest;  // levels then mean the same for every objective
  }

  [[nodiscard]] bool inside() const {
    return x_.minCoeff() > 0 && (m_ == 0 || (bounds_ - rows_ * x_).minCoeff() > 0);
  }

  /// False: numerical failure, for example if the objective is unbounded.
  bool follow() {
    const double far = 1 + x_.maxCoeff();
    slack_ = bounds_ - rows_ * x_;
    row_price_ = kFirstLevel * slack_.cwiseInverse();
    price_ = kFirstLevel * x_.cwiseInverse();
    double level = kFirstLevel;
    while (level >= kLastLevel * 0.99) {
      for (int step = 0; step < kMaxSteps; ++step) {
        const Vector before = x_;
        const double most = kLost * std::max(gap(), level * (n_ + m_));
        const bool good = level < kGoodLevel;
        if (!newton(level)) return good;
        // At these levels only rounding widens the gap, and further steps are arbitrary.
        if (good && gap() > most) {
          x_ = before;
          return true;
        }
        if (centred(level)) break;
      }
      level *= kNextLevel;
    }
    // If the objective is unbounded, the path never ends.
    return x_.allFinite() && x_.maxCoeff() < kEndless * far;
  }

  [[nodiscard]] std::vector<double> answer() const { return {x_.data(), x_.data() + n_}; }

 private:
  static constexpr std::size_t kSparse = 16;

  /// Upper bound of the distance to the optimum, in scaled units, if the prices are feasible.
  [[nodiscard]] double gap() const { return x_.dot(price_) + slack_.dot(row_price_); }

  [[nodiscard]] bool centred(double level) const {
    const double rows =
        m_ == 0
            ? 0
            : (slack_.cwiseProduct(row_price_) / level - Vector::Ones(m_)).cwiseAbs().maxCoeff();
    const double own = (x_.cwiseProduct(price_) / level - Vector::Ones(n_)).cwiseAbs().maxCoeff();
    return rows < kCentred && own < kCentred;
  }

  /// (A' D A) dx = c - level A' (1 / s), with the bounds x >= 0 as further rows.
  bool newton(double level) {
    const Vector weight = row_price_.cwiseQuotient(slack_);
    const Vector right =
        c_ - level * (rows_.transpose() * slack_.cwiseInverse()) + level * x_.cwiseInverse();
    const Vector dx = solve(weight, right);
    if (!dx.allFinite()) return false;
    const Vector ds = -(rows_ * dx);
    const Vector dz =
        (Vector::Constant(m_, level) - row_price_.cwiseProduct(ds)).cwiseQuotient(slack_) -
        row_price_;
    const Vector dp =
        (Vector::Constant(n_, level) - price_.cwiseProduct(dx)).cwiseQuotient(x_) - price_;
    // One step length for all variables: separate lengths for x and prices can lose the path.
    const double length = std::min(std::min(longest(x_, dx), longest(slack_, ds)),
                                   std::min(longest(price_, dp), longest(row_price_, dz)));
    x_ += length * dx;
    slack_ += length * ds;
    price_ += length * dp;
    row_price_ += length * dz;
    return true;
  }

  /// The system with dense rows separated: [H V'; V -1/W].
  [[nodiscard]] Vector solve(const Vector& weight, const Vector& right) {
    std::vector<Eigen::Triplet<double>> entries;
    Vector diagonal = price_.cwiseQuotient(x_);
    int extra = 0;
    for (int row = 0; row < m_; ++row) {
      if (dense_[row]) {
        for (RowMatrix::InnerIterator at(rows_, row); at; ++at) {
          entries.emplace_back(n_ + extra, at.col(), at.value());
        }
        entries.emplace_back(n_ + extra, n_ + extra, -1 / weight[row]);
        ++extra;
        continue;
      }
      for (RowMatrix::InnerIterator a(rows_, row); a; ++a) {
        for (RowMatrix::InnerIterator b(rows_, row); b; ++b) {
          if (b.col() <= a.col()) {
            entries.emplace_back(a.col(), b.col(), weight[row] * a.value() * b.value());
          }
        }
      }
    }
    for (int i = 0; i < n_; ++i) entries.emplace_back(i, i, diagonal[i] * (1 + kDamping));
    Matrix system(n_ + extra, n_ + extra);
    system.setFromTriplets(entries.begin(), entries.end());
    if (!analysed_) factor_.analyzePattern(system);
    analysed_ = true;
    factor_.factorize(system);
    if (factor_.info() != Eigen::Success) return Vector::Constant(n_, std::nan(""));
    Vector whole = Vector::Zero(n_ + extra);
    whole.head(n_) = right;
    const Vector found = factor_.solve(whole);
    return found.head(n_);
  }

  /// The longest step up to 1 that keeps all of `from` above 0.
  static double longest(const Vector& from, const Vector& step) {
    double most = 1;
    for (Eigen::Index i = 0; i < from.size(); ++i) {
      if (step[i] < 0) most = std::min(most, -0.9 * from[i] / step[i]);
    }
    return most;
  }

  using RowMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;

  int n_;
  int m_;
  Vector c_;
  RowMatrix rows_;
  Eigen::Array<bool, Eigen::Dynamic, 1> dense_;  ///< of each row
  Vector bounds_;
  Vector x_;
  Vector slack_;
  Vector price_;      ///< of the bounds x >= 0
  Vector row_price_;  ///< of the rows
  Eigen::SimplicialLDLT<Matrix, Eigen::Lower> factor_;
  bool analysed_ = false;
};

}  // namespace

Result<std::vector<double>> solve_centre(const LinearProgram& linear_program) {
  if (linear_program.start.size() != linear_program.objective.size()) {
    return fail("linear program: no start for each variable");
  }
  if (linear_program.objective.empty()) return std::vector<double>{};
  PathFollower path(linear_program);
  if (!path.inside()) return fail("linear program: the start is not inside all rows");
  if (!path.follow()) return fail("linear program: no optimum was found");
  return path.answer();
}

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/convergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "lib/base/statistics.h"
#include "lib/model/numeric/nnls.h"

namespace rubato {
namespace {

constexpr std::size_t kMinPoints = 5;
constexpr int kAsymptotes = 60;  // grid of the first search over b2
constexpr int kCloser = 24;      // steps of the golden section around the best
constexpr double kSegmentWeight = 4;
constexpr double kHuber = 1.5;  // in standard deviations
constexpr int kReweights = 3;
constexpr int kSteps = 3;         // refinements by least squares of the loss itself
constexpr double kFarthest = 50;  // maximum of a forecast, times the samples done
constexpr double kMinFall = 2;    // of the curve over its points, in units of its noise
constexpr double kMaxLoss = 1e12;

double square(double x) { return x * x; }

bool usable(const LossPoint& point) {
  return std::isfinite(point.samples) && point.samples >= 0 && point.samples < 1e18 &&
         std::isfinite(point.loss) && point.loss > 0 && point.loss < kMaxLoss && point.count > 0;
}

// Points with x in (0, 1], and their weights.
struct Curve {
  std::vector<double> x;
  std::vector<double> loss;
  std::vector<double> weight;  ///< of its error, not of its square
  double unit = 1;             ///< samples at x = 1
  double least = 0;            ///< loss
};

Curve curve_of(std::vector<LossPoint> points) {
  std::erase_if(points, [](const LossPoint& point) { return !usable(point); });
  std::sort(points.begin(), points.end(), [](const LossPoint& a, const LossPoint& b) {
    return std::tuple(a.samples, a.loss, a.count) < std::tuple(b.samples, b.loss, b.count);
  });
  Curve curve;
  if (points.empty() || points.back().samples <= 0) return curve;
  curve.unit = points.back().samples;
  curve.least = points.front().loss;
  const std::size_t n = points.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double segment = std::floor(3.0 * static_cast<double>(i) / static_cast<double>(n));
    curve.x.push_back(points[i].samples / curve.unit);
    curve.loss.push_back(points[i].loss);
    curve.weight.push_back(std::pow(kSegmentWeight, segment - 2) *
                           std::sqrt(static_cast<double>(points[i].count)));
    curve.least = std::min(curve.least, points[i].loss);
  }
  return curve;
}

struct Candidate {
  double b0 = 0;
  double b1 = 0;
  double b2 = 0;
  double misfit = std::numeric_limits<double>::infinity();  ///< weighted sum of squares

  [[nodiscard]] double at(double x) const { return 1 / (b0 * x + b1) + b2; }
  [[nodiscard]] bool falls() const { return b0 > 0 && b0 + b1 > 0; }
};

void measure(const Curve& curve, const std::vector<double>& weight, Candidate& found) {
  found.misfit = std::numeric_limits<double>::infinity();
  if (!(found.b0 + found.b1 > 0)) return;
  double misfit = 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    misfit += square(weight[i] * (found.at(std::max(curve.x[i], 1e-9)) - curve.loss[i]));
  if (std::isfinite(misfit)) found.misfit = misfit;
}

// A Gauss-Newton step: fits the line of 1/(l - b2) to the errors of l around `last`. Otherwise,
// upward noise would weigh more.
Candidate closer(const Curve& curve, const std::vector<double>& weight, const Candidate& last) {
  const auto n = static_cast<Eigen::Index>(curve.x.size());
  Eigen::MatrixXd a(n, 2);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double line = std::max(last.b0 * curve.x[at] + last.b1, 1e-12);
    const double scale = weight[at] / square(line);
    a(i, 0) = scale * curve.x[at];
    a(i, 1) = scale;
    b(i) = scale * (line - (curve.loss[at] - last.b2 - 1 / line) * square(line));
  }
  const NnlsResult solved = nnls(a, b);
  Candidate found{solved.x(0), solved.x(1), last.b2};
  if (solved.solved) measure(curve, weight, found);
  return found.misfit < last.misfit ? found : last;
}

// b0 and b1 for one asymptote. 1/(l - b2) is a line of x; its error times (l - b2)^2 is, to first
// order, the error of l.
Candidate solve(const Curve& curve, const std::vector<double>& weight, double b2) {
  const auto n = static_cast<Eigen::Index>(curve.x.size());
  Eigen::MatrixXd a(n, 2);
  Eigen::VectorXd b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double above = curve.loss[at] - b2;
    const double scale = weight[at] * square(above);
    a(i, 0) = scale * curve.x[at];
    a(i, 1) = scale;
    b(i) = scale / above;
  }
  const NnlsResult line = nnls(a, b);
  Candidate found{line.x(0), line.x(1), b2};
  if (line.solved) measure(curve, weight, found);
  if (!std::isfinite(found.misfit)) return found;
  for (int i = 0; i < kSteps; ++i) found = closer(curve, weight, found);
  return found;
}

// Asymptotes from 0 to just below the minimum loss, denser near it.
std::vector<double> asymptotes(double least) {
  std::vector<double> all;
  all.reserve(kAsymptotes);
  for (int i = 0; i < kAsymptotes; ++i)
    all.push_back(least * (1 - std::pow(10.0, -3.0 * i / (kAsymptotes - 1))));
  return all;
}

// The list of candidates; the last one is the best, which lies between two of them.
std::vector<Candidate> search(const Curve& curve, const std::vector<double>& weight) {
  const std::vector<double> row = asymptotes(curve.least);
  std::vector<Candidate> all;
  std::size_t best = 0;
  for (const double b2 : row) {
    all.push_back(solve(curve, weight, b2));
    if (all.back().misfit < all[best].misfit) best = all.size() - 1;
  }
  double low = row[best == 0 ? 0 : best - 1];
  double high = row[std::min(best + 1, row.size() - 1)];
  Candidate closest = all[best];
  for (int i = 0; i < kCloser; ++i) {
    const Candidate left = solve(curve, weight, low + (high - low) * 0.381966);
    const Candidate right = solve(curve, weight, low + (high - low) * 0.618034);
    for (const Candidate& one : {left, right})
      if (one.misfit < closest.misfit) closest = one;
    (left.misfit <= right.misfit ? high : low) = left.misfit <= right.misfit ? right.b2 : left.b2;
  }
  all.push_back(closest);
  return all;
}

double deviation(const Curve& curve, const Candidate& found) {
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const double w = square(curve.weight[i]);
    sum += w * square(found.at(std::max(curve.x[i], 1e-9)) - curve.loss[i]);
    weights += w;
  }
  return weights > 0 ? std::sqrt(sum / weights) : 0;
}

// Reduces the weight of points far from the curve.
std::vector<double> reweighted(const Curve& curve, const Candidate& found) {
  std::vector<double> off;
  for (std::size_t i = 0; i < curve.x.size(); ++i)
    off.push_back(std::abs(found.at(std::max(curve.x[i], 1e-9)) - curve.loss[i]));
  const double bound = kHuber * 1.4826 * upper_median(off) + 1e-9 * curve.least;
  std::vector<double> weight = curve.weight;
  for (std::size_t i = 0; i < off.size(); ++i)
    if (off[i] > bound) weight[i] *= std::sqrt(bound / off[i]);
  return weight;
}

// The x at which a candidate reaches the target; nullopt if it never does.
std::optional<double> reaches(const Candidate& found, double target) {
  if (!found.falls() || target <= found.b2) return std::nullopt;
  const double x = (1 / (target - found.b2) - found.b1) / found.b0;
  return std::isfinite(x) ? std::optional(std::max(x, 0.0)) : std::nullopt;
}

LossForecast forecast(const Curve& curve, const std::vector<Candidate>& all, double target) {
  LossForecast told;
  const Candidate& best = all.back();
  const std::optional<double> x = reaches(best, target);
  if (!x || *x > kFarthest) return told;
  told.predictable = true;
  told.low = told.high = told.samples = *x * curve.unit;
  // As in an F test: about as good within two standard deviations, with the weights as number of
  // points.
  double weights = 0;
  double squares = 0;
  for (const double w : curve.weight) {
    weights += square(w);
    squares += square(square(w));
  }
  const double spare = std::max(square(weights) / squares - 3, 1.0);
  const double bound = best.misfit * (1 + 4 / spare) + 1e-12;
  for (const Candidate& other : all) {
    if (other.misfit > bound) continue;
    const double at = std::min(reaches(other, target).value_or(kFarthest), kFarthest) * curve.unit;
    told.low = std::min(told.low, at);
    told.high = std::max(told.high, at);
  }
  return told;
}

}  // namespace

bool add_loss(std::vector<LossPoint>& curve, double samples, double loss) {
  const LossPoint fresh{samples, loss, 1};
  if (!usable(fresh)) return false;
  if (!curve.empty() && samples <= curve.back().samples) return false;
  if (curve.size() >= kMaxLossPoints) {
    std::vector<LossPoint> joined;
    for (std::size_t i = 0; i + 1 < curve.size(); i += 2) {
      const LossPoint& a = curve[i];
      const LossPoint& b = curve[i + 1];
      const auto n = static_cast<double>(a.count) + b.count;
      joined.push_back({(a.samples * a.count + b.samples * b.count) / n,
                        (a.loss * a.count + b.loss * b.count) / n,
                        std::min(a.count + b.count, 1 << 20)});
    }
    if (curve.size() % 2 == 1) joined.push_back(curve.back());
    curve = std::move(joined);
  }
  curve.push_back(fresh);
  return true;
}

double LossCurve::at(double samples) const {
  const double below = b0 * std::max(samples, 0.0) + b1;
  return below > 0 && std::isfinite(below) ? 1 / below + b2 : b2;
}

LossFit fit_loss(std::vector<LossPoint> points, double target) {
  LossFit fit;
  const Curve curve = curve_of(std::move(points));
  if (curve.x.size() < kMinPoints) return fit;
  std::vector<double> weight = curve.weight;
  std::vector<Candidate> all;
  for (int i = 0; i < kReweights; ++i) {
    all = search(curve, weight);
    if (!std::isfinite(all.back().misfit)) return fit;
    weight = reweighted(curve, all.back());
  }
  const Candidate& best = all.back();
  fit.curve = {best.b0 / curve.unit, best.b1, best.b2, deviation(curve, best), false};
  const double fall = best.at(std::max(curve.x.front(), 1e-9)) - best.at(1);
  fit.curve.valid = best.falls() && std::isfinite(fall) && fall > kMinFall * fit.curve.noise &&
                    fall > 1e-6 * curve.least;
  if (fit.curve.valid && std::isfinite(target)) fit.target = forecast(curve, all, target);
  return fit;
}

}  // namespace rubato

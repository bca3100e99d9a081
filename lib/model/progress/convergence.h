// SPDX-License-Identifier: GPL-2.0-or-later
// Extrapolates a training loss: when it will reach a target.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/core/progress_history.h"

namespace rubato {

/// Maximum number of points kept per job.
inline constexpr std::size_t kMaxLossPoints = 32;

/// Adds a report to a curve of at most kMaxLossPoints; a full curve merges neighbours. Ignores a
/// loss that is not finite or not above 0, and samples not above the last point's; returns false
/// then.
bool add_loss(std::vector<LossPoint>& curve, double samples, double loss);

/// l(x) = 1/(b0 x + b1) + b2 over x samples, all b >= 0 (Peng et al., Optimus, EuroSys 2018,
/// section 3.1; Zhao et al., AITurbo, HPDC 2021).
struct LossCurve {
  double b0 = 0;
  double b1 = 0;
  double b2 = 0;  ///< the asymptote
  /// Weighted standard deviation of the measured losses around the curve.
  double noise = 0;
  /// Enough points, and a decrease larger than the noise; only then extrapolate.
  bool valid = false;

  [[nodiscard]] double at(double samples) const;
};

/// When a loss is reached, in samples since the start of the job.
struct LossForecast {
  bool predictable = false;  ///< false: the target lies below the asymptote or too far off, or the
                             ///< curve is not valid; the other members are then 0
  double samples = 0;
  double low = 0;  ///< range over curves that fit about as well; low <= samples <= high
  double high = 0;
};

/// Fits a curve to `points` (in any order) and forecasts when it reaches `target`. For a grid of
/// asymptotes b2 below the minimum loss, fits 1/(l - b2) over x with nnls, weighted so that errors
/// count as errors of the loss; then takes the best b2. Points are cut into three equal parts;
/// later ones weigh 4 and 16 times as much. Points far from the curve weigh less (Huber 1964).
/// Ignores values that are not finite or not above 0.
struct LossFit {
  LossCurve curve;
  LossForecast target;
};
[[nodiscard]] LossFit fit_loss(std::vector<LossPoint> points, double target);

}  // namespace rubato

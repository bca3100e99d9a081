// SPDX-License-Identifier: GPL-2.0-or-later
// How a training loss goes on: when it will reach a target.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/core/progress_history.h"

namespace rubato {

/// Most points kept of one job.
inline constexpr std::size_t kMaxLossPoints = 32;

/// Adds a report to a curve that holds at most kMaxLossPoints: when it is full, neighbours become
/// one point. A loss that is not finite or not above 0, and samples not above those of the last
/// point, change nothing: false then.
bool add_loss(std::vector<LossPoint>& curve, double samples, double loss);

/// l(x) = 1/(b0 x + b1) + b2 over x samples, all b >= 0 (Peng et al., Optimus, EuroSys 2018,
/// section 3.1; Zhao et al., AITurbo, HPDC 2021).
struct LossCurve {
  double b0 = 0;
  double b1 = 0;
  double b2 = 0;  ///< the asymptote
  /// Weighted standard deviation of the measured losses around the curve.
  double noise = 0;
  /// Enough points, falling, and by more than the noise: only then is it extrapolated.
  bool valid = false;

  [[nodiscard]] double at(double samples) const;
};

/// When a loss is reached, in samples since the job began.
struct LossForecast {
  bool predictable = false;  ///< false: the target lies below the asymptote, too far off, or the
                             ///< curve is not valid; the other members are 0 then
  double samples = 0;
  double low = 0;  ///< for curves that fit about as well; low <= samples <= high
  double high = 0;
};

/// The curve of `points` (in any order) and when it reaches `target`. For each of a row of
/// asymptotes b2 below the least loss, nnls of 1/(l - b2) over x, weighted so that errors count as
/// errors of the loss; then the best b2. Points are cut into three equal parts, later ones count 4
/// and 16 times as much, and points far off the curve count less (Huber 1964). Total: what is not
/// finite or not above 0 is left out.
struct LossFit {
  LossCurve curve;
  LossForecast target;
};
[[nodiscard]] LossFit fit_loss(std::vector<LossPoint> points, double target);

}  // namespace rubato

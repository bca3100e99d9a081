// SPDX-License-Identifier: GPL-2.0-or-later
// Speed of a CPU task by its number of cores.
#pragma once

#include <vector>

namespace rubato {

/// Speed of one task by its number of cores: E(x) = alpha exp(-k x) + d (Zhao et al., AITurbo, HPDC
/// 2021). With alpha <= 0, k > 0 and d > 0 it never decreases and saturates at d.
struct CoreCurve {
  double alpha = 0;
  double k = 1;
  double d = 1;

  /// E(x), at least a thousandth of d. A value not above 0 or not finite means an unknown number of
  /// cores and gives d.
  [[nodiscard]] double speed(double cores) const;
  /// e = 1/E(x): the factor by which a step takes longer than at speed 1. Finite and above 0.
  [[nodiscard]] double slowdown(double cores) const { return 1 / speed(cores); }
  /// The fewest cores, from 1, that give 99 % of what `most` cores give.
  [[nodiscard]] int enough(int most) const;

  bool operator==(const CoreCurve&) const = default;
};

struct CoreSample {
  double cores = 0;
  double speed = 0;  ///< in any unit, above 0
};

struct CoreFit {
  CoreCurve curve;      ///< `d` in the unit of the samples
  bool fitted = false;  ///< false: fewer than two numbers of cores; the curve is the usual one
  double error = 0;     ///< root mean square of ln(predicted / measured)
  int dropped = 0;      ///< samples that were not finite or not above 0
};

/// The usual curve of CPU tasks, which saturates at 1: half speed with one core, full speed with
/// four or five. A mean of the published curves of vgg16 and resnet50.
[[nodiscard]] CoreCurve usual_worker_curve();
/// The same for a parameter server, which needs only two cores.
[[nodiscard]] CoreCurve usual_server_curve();

/// Least squares of ln E(x), with bounds that keep the curve increasing. A weak pull to `usual`
/// decides where samples do not. Order and repetition of samples do not matter.
[[nodiscard]] CoreFit fit_core_curve(std::vector<CoreSample> samples,
                                     const CoreCurve& usual = usual_worker_curve());

}  // namespace rubato

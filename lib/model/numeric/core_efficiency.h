// SPDX-License-Identifier: GPL-2.0-or-later
// How much faster a task on CPUs gets with more cores.
#pragma once

#include <vector>

namespace rubato {

/// Speed of one task over its number of cores: E(x) = alpha exp(-k x) + d (Zhao et al., AITurbo,
/// HPDC 2021). With alpha <= 0, k > 0 and d > 0 it never falls and levels off at d.
struct CoreCurve {
  double alpha = 0;
  double k = 1;
  double d = 1;

  /// E(x), at least a thousandth of d. A value not above 0 or not finite means that the cores are
  /// not known, and gives d.
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

/// What most tasks on CPUs look like, levelling off at 1: half of the speed with one core, all of
/// it with four or five. A mean of the published curves of vgg16 and resnet50.
[[nodiscard]] CoreCurve usual_worker_curve();
/// The same of a parameter server, which two cores are enough for.
[[nodiscard]] CoreCurve usual_server_curve();

/// Least squares of ln E(x), inside bounds that keep the curve rising, drawn a little to `usual`
/// where the samples say nothing. Order and number of equal samples do not matter.
[[nodiscard]] CoreFit fit_core_curve(std::vector<CoreSample> samples,
                                     const CoreCurve& usual = usual_worker_curve());

}  // namespace rubato

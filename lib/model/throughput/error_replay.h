// SPDX-License-Identifier: GPL-2.0-or-later
// Forecast errors on the reports of a store, replayed in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "lib/model/throughput/learner.h"

namespace rubato {

/// Fits the first reports, then forecasts the last ones one by one, with a new fit after each
/// relevant change. Deterministic; the work is bounded.
class ErrorReplay {
 public:
  static constexpr std::size_t kMaxMeasured = 2000;

  /// The last `measured` reports are forecast.
  explicit ErrorReplay(TypeSpeeds speeds, LearnerRules rules, std::size_t measured = kMaxMeasured)
      : speeds_(std::move(speeds)), learner_(rules), measured_(measured) {}

  /// Call in the order in which reports were written.
  void take(ThroughputReport report);
  /// Call after the last report.
  [[nodiscard]] const ForecastErrors& finish();

 private:
  void fit_if_due();

  TypeSpeeds speeds_;
  Learner learner_;
  std::size_t measured_;
  std::deque<ThroughputReport> last_;
  double work_ = 0;  ///< sum of cubed observation counts, over all fits
};

/// Errors of the current model and of a plain Gaussian process on the same reports. The plain one
/// uses ThroughputPrior as configured and `plain()`; all unflagged reports weigh the same, without
/// ageing.
struct ReplayError {
  ProfileName profile;
  std::string gpu_type;
  std::int64_t reports = 0;
  double present = 0;  ///< mean one-step-ahead error
  double present_most = 0;
  double plain = 0;
  double plain_most = 0;
  double doubt = 0;  ///< standard error of `present` - `plain`, from paired reports
  /// The same means over reports of already measured configurations (type, size, batch, nodes,
  /// plan). The first report of a configuration is a guess, whatever follows.
  std::int64_t repeats = 0;
  double present_repeats = 0;
  double plain_repeats = 0;
};

/// Replays the reports in order through both models, each refitted when something changed. By
/// profile and GPU type; only those with at least two usable reports.
[[nodiscard]] std::vector<ReplayError> replay_both(const std::vector<ThroughputReport>& reports,
                                                   const TypeSpeeds& speeds,
                                                   const LearnerRules& rules);

}  // namespace rubato

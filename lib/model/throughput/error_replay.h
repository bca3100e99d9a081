// SPDX-License-Identifier: GPL-2.0-or-later
// How well the reports of a store would have been foreseen, had they come one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "lib/model/throughput/learner.h"

namespace rubato {

/// Fits the first reports, then forecasts the last ones one after the other, with a new fit where
/// that changes something. Same reports, same errors; the work is bounded.
class ErrorReplay {
 public:
  static constexpr std::size_t kMaxMeasured = 2000;

  /// The last `measured` reports are foreseen.
  explicit ErrorReplay(TypeSpeeds speeds, LearnerRules rules, std::size_t measured = kMaxMeasured)
      : speeds_(std::move(speeds)), learner_(rules), measured_(measured) {}

  /// In the order in which they were written.
  void take(ThroughputReport report);
  /// After the last one.
  [[nodiscard]] const ForecastErrors& finish();

 private:
  void fit_if_due();

  TypeSpeeds speeds_;
  Learner learner_;
  std::size_t measured_;
  std::deque<ThroughputReport> last_;
  double work_ = 0;  ///< cubes of the number of cells, over all fits
};

/// Errors on the same reports of the present model and of a plain Gaussian process: ThroughputPrior
/// as configured and `plain()`, every report that is not flagged counting alike, for ever.
struct ReplayError {
  ProfileName profile;
  std::string gpu_type;
  std::int64_t reports = 0;
  double present = 0;  ///< mean one-step-ahead error
  double present_most = 0;
  double plain = 0;
  double plain_most = 0;
  double doubt = 0;  ///< standard error of `present` - `plain`: the reports are pairs
  /// The same means over reports of places (type, size, batch, nodes, plan) that had been measured:
  /// the first report of a place is one guess, however many follow.
  std::int64_t repeats = 0;
  double present_repeats = 0;
  double plain_repeats = 0;
};

/// Replays the reports in their order through both, each fitted anew whenever that changes
/// something. By profile and GPU type; those of which there were two usable reports at least.
[[nodiscard]] std::vector<ReplayError> replay_both(const std::vector<ThroughputReport>& reports,
                                                   const TypeSpeeds& speeds,
                                                   const LearnerRules& rules);

}  // namespace rubato

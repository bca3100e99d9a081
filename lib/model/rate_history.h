// SPDX-License-Identifier: GPL-2.0-or-later
// What was measured at each place, forgotten slowly, with doubts about what differs from the rest.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/model/throughput.h"
#include "lib/model/usable.h"

namespace rubato {

struct HistoryRules {
  /// A run counts half as much when it is so much older than the newest report of all; 0: never.
  double half_life = 30.0 * 86400;
};

/// How far reports lie apart, as standard deviations of ln rate; 0: nothing tells.
struct ReportScatter {
  double within = 0;        ///< of the reports of a run: of most runs
  double within_count = 0;  ///< differences that tell it
  double between = 0;       ///< of the runs of one place, beyond what that explains
  double between_count = 0;
};

/// Runs of jobs by place. Reports of one run are one witness, however many: it weighs as much as
/// its first kWitness reports.
class RateHistory {
 public:
  /// Most places; of more, the one with fewest reports goes.
  static constexpr std::size_t kMostPlaces = 4 * ThroughputModel::kMostCells;
  /// Most runs of a place, the last ones: later reports take the place of earlier ones at the
  /// latest then.
  static constexpr std::size_t kMostRuns = 32;
  static constexpr double kWitness = 16;
  /// Of the reports of a run about so many of the last count.
  static constexpr double kRunMemory = 64;

  /// How far a job that warms up may be from the rate that it settles at, as ln.
  static constexpr double kEarlySpread = 0.2;

  explicit RateHistory(HistoryRules rules = {}) : rules_(rules) {}

  /// A usable report; the rate is finite and above 0.
  void add(const MeasuredRate& report);
  /// Likewise of a job that still warms up: it counts where the place has no others, since short
  /// jobs report nothing else.
  void add_early(const MeasuredRate& report);

  /// One cell a place: the mean of ln rate over its runs, each weighted by its reports and its age,
  /// and the less the farther it is from the others (Student's t with 4 degrees of freedom: Lange,
  /// Little & Taylor 1989). By `before`. What is known from early reports alone has the weight that
  /// makes it as unsure as kEarlySpread where one report has the standard deviation `report`.
  [[nodiscard]] std::vector<RateCell> cells(double report = ThroughputPrior().report) const;

  /// All places together.
  [[nodiscard]] ReportScatter scatter() const;

 private:
  struct Run {
    JobKey job;
    int restarts = 0;
    std::int64_t reports = 0;
    double log_rate = 0;  ///< mean
    double squares = 0;   ///< of distances from it
    Seconds last = 0;
  };
  struct Place {
    std::int64_t reports = 0;
    std::vector<Run> runs;  ///< oldest first
    std::int64_t early_reports = 0;
    std::vector<Run> early;  ///< likewise; empty as soon as there are others
  };
  using Key = std::pair<ProfileName, RatePlace>;

  static void add_to(std::vector<Run>& runs, const MeasuredRate& report, double memory);
  [[nodiscard]] Place& place_of(const MeasuredRate& report);
  [[nodiscard]] RateCell cell_of(const Key& key, const Place& place, double report) const;

  HistoryRules rules_;
  std::map<Key, Place> places_;
  Seconds newest_ = 0;
};

}  // namespace rubato

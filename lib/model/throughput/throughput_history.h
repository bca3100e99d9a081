// SPDX-License-Identifier: GPL-2.0-or-later
// What was measured at each place, forgotten slowly, with doubts about what differs from the rest.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/model/throughput/report_filter.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {

struct ThroughputHistoryRules {
  /// A run counts half as much when it is so much older than the newest report of all; 0: never.
  double half_life = 30.0 * 86400;
};

/// How far reports lie apart, as standard deviations of ln rate; 0: nothing tells.
struct ReportScatter {
  double within = 0;        ///< of the reports of a run: of most runs
  double within_count = 0;  ///< differences that tell it
  double between = 0;       ///< of the runs of one place, beyond what that explains
  double between_count = 0;
  double early = 0;  ///< of a report while its job warms up, around the rate it settles at
  double early_count = 0;
};

/// Runs of jobs by place. Reports of one run are one witness, however many: the median of its last
/// kRunMedian reports, with their weight. Reports are off to one side now and then, when an
/// interval held a checkpoint or a moment of waiting; the median is also what errors are least
/// from.
class ThroughputHistory {
 public:
  /// Most places; of more, the one with fewest reports goes.
  static constexpr std::size_t kMaxConfigurations = 4 * ThroughputModel::kMaxObservations;
  /// Most runs of a place, the last ones: later reports take the place of earlier ones at the
  /// latest then.
  static constexpr std::size_t kMaxRuns = 32;
  static constexpr std::size_t kRunMedian = 16;
  /// The scatter of a run is that of about so many of its last reports.
  static constexpr double kRunMemory = 64;

  /// How far a job that warms up may be from the rate that it settles at, as ln: a belief, until
  /// jobs that settled have shown it (`early_stddev` of fit_hyperparameters.h).
  static constexpr double kEarlyStddev = 0.2;

  explicit ThroughputHistory(ThroughputHistoryRules rules = {}) : rules_(rules) {}

  /// A usable report; the rate is finite and above 0.
  void add(const ThroughputReport& report);
  /// Likewise of a job that still warms up: it counts where the place has no others, since short
  /// jobs report nothing else.
  void add_early(const ThroughputReport& report);
  /// The run of this report has settled, and this is the last one that was added: what it reported
  /// before shows how far from that a job is while it warms up.
  void settled(const ThroughputReport& report);

  /// One cell a place: the mean of ln rate over its runs, each weighted by its reports and its age,
  /// and the less the farther it is from the others (Student's t with 4 degrees of freedom: Lange,
  /// Little & Taylor 1989). By `before`. What is known from early reports alone has the weight that
  /// makes it as unsure as `early` where one report has the standard deviation `report`.
  [[nodiscard]] std::vector<ThroughputObservation> observations(
      double report = ThroughputPrior().report, double early = kEarlyStddev) const;

  /// All places together.
  [[nodiscard]] ReportScatter scatter() const;

 private:
  struct ReportedRun {
    JobKey job;
    int restarts = 0;
    std::int64_t reports = 0;
    std::vector<double> latest;  ///< ln rates of the last kRunMedian reports
    double log_throughput = 0;   ///< their median
    double mean = 0;
    double squares = 0;  ///< of distances from the mean
    Seconds last = 0;
  };
  struct ConfigurationRuns {
    std::int64_t reports = 0;
    std::vector<ReportedRun> runs;  ///< oldest first
    std::int64_t early_reports = 0;
    std::vector<ReportedRun> early;  ///< likewise; empty as soon as there are others
  };
  using Key = std::pair<ProfileName, JobConfiguration>;

  static void add_to(std::vector<ReportedRun>& runs, const ThroughputReport& report,
                     std::size_t run_median);
  [[nodiscard]] ConfigurationRuns& configuration_of(const ThroughputReport& report);
  [[nodiscard]] ThroughputObservation observation_of(const Key& key,
                                                     const ConfigurationRuns& configuration,
                                                     double report, double early) const;

  ThroughputHistoryRules rules_;
  std::map<Key, ConfigurationRuns> configurations_;
  /// ln rates of runs that warm up; of too many, those of the oldest job go.
  std::map<std::pair<JobKey, int>, std::vector<double>> warming_;
  double early_squares_ = 0;  ///< mean of squared distances from where these settled
  double early_count_ = 0;
  Seconds newest_ = 0;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Observations of each configuration. Old ones lose weight, and so do outliers.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/model/throughput/report_filter.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {

struct ThroughputHistoryRules {
  /// Half-life of a run's weight, by its age relative to the newest report; 0: no ageing.
  double half_life = 30.0 * 86400;
};

/// Scatter of reports, as standard deviations of ln throughput; 0: unknown.
struct ReportScatter {
  double within = 0;        ///< of the reports within a run; median over runs
  double within_count = 0;  ///< differences it is estimated from
  double between = 0;       ///< between the runs of a configuration, in excess of `within`
  double between_count = 0;
  double early = 0;  ///< of a report during warm-up, around the settled throughput
  double early_count = 0;
};

/// Runs of jobs by configuration. A run counts once: the median of its last kRunMedian reports,
/// with their weight. The median suits one-sided outliers, such as an interval with a checkpoint or
/// a wait.
class ThroughputHistory {
 public:
  /// Maximum number of configurations; the one with fewest reports is dropped first.
  static constexpr std::size_t kMaxConfigurations = 4 * ThroughputModel::kMaxObservations;
  /// Maximum number of runs per configuration: the last ones.
  static constexpr std::size_t kMaxRuns = 32;
  static constexpr std::size_t kRunMedian = 16;
  /// A run's scatter is that of about this many of its last reports.
  static constexpr double kRunMemory = 64;

  /// Prior standard deviation (ln) of a warm-up report around the settled throughput. Settled jobs
  /// refine it (`early_stddev` of fit_hyperparameters.h).
  static constexpr double kEarlyStddev = 0.2;

  explicit ThroughputHistory(ThroughputHistoryRules rules = {}) : rules_(rules) {}

  /// Adds a usable report; its throughput is finite and above 0.
  void add(const ThroughputReport& report);
  /// Adds a report of the warm-up. It counts only for a configuration without others, since short
  /// jobs have no others.
  void add_early(const ThroughputReport& report);
  /// The run of this report, which was added last, has settled. Its earlier reports show how far
  /// warm-up reports are off.
  void settled(const ThroughputReport& report);

  /// One observation per configuration: the mean of ln throughput over its runs, weighted by
  /// reports and age. Runs far from the others weigh less (Student's t with 4 degrees of freedom:
  /// Lange, Little & Taylor 1989). Sorted by `before`. An observation from warm-up reports alone
  /// gets the weight at which its standard deviation is `early`, if one report's is `report`.
  [[nodiscard]] std::vector<ThroughputObservation> observations(
      double report = ThroughputPrior().report, double early = kEarlyStddev) const;

  /// Number of configurations with reports.
  [[nodiscard]] std::size_t configurations() const { return configurations_.size(); }

  /// Scatter over all configurations.
  [[nodiscard]] ReportScatter scatter() const;

 private:
  struct ReportedRun {
    JobKey job;
    int restarts = 0;
    std::int64_t reports = 0;
    std::vector<double> latest;  ///< ln throughputs of the last kRunMedian reports
    double log_throughput = 0;   ///< their median
    double mean = 0;
    double squares = 0;  ///< sum of squared distances from the mean
    Seconds last = 0;
  };
  struct ConfigurationRuns {
    std::int64_t reports = 0;
    std::vector<ReportedRun> runs;  ///< oldest first
    std::int64_t early_reports = 0;
    std::vector<ReportedRun> early;  ///< likewise; cleared as soon as there are settled ones
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
  /// ln throughputs of runs in warm-up; if there are too many, drops those of the oldest job.
  std::map<std::pair<JobKey, int>, std::vector<double>> warming_;
  double early_squares_ = 0;  ///< mean of squared distances from the settled throughput
  double early_count_ = 0;
  Seconds newest_ = 0;
};

}  // namespace rubato

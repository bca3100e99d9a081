// SPDX-License-Identifier: GPL-2.0-or-later
// Which reports say how fast a place is: not those of a job that still warms up, nor those that
// speak of two places at once.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// A report, as models see it.
struct ThroughputReport {
  ProfileName profile;
  JobConfiguration configuration;
  JobKey job;
  int restarts = 0;
  Seconds time = 0;
  Seconds run_start = 0;  ///< 0: not known
  double throughput = 0;  ///< samples/s
  bool flagged = false;   ///< found implausible

  bool operator==(const ThroughputReport&) const = default;
};

/// What becomes of a report.
enum class ReportUse {
  kYes,
  kFlagged,
  kNoThroughput,  ///< 0, or no number
  kOnCpus,        ///< no speed of a GPU type; the model of steps learns from it
  kMixed,         ///< the job holds several types of GPU: the speed of no single one
  kResized,       ///< the job was elsewhere at the report before
  kWarmUp,        ///< the job began or was resized a short while ago, and its rate has not settled
};
[[nodiscard]] const char* to_string(ReportUse use);

struct ReportFilterRules {
  /// From a start or a resize on; 0: none. A report speaks of the time since the one before: it is
  /// left out if the middle of that is so near to the start.
  Seconds warm_up = 60;
  /// Ends earlier once so many reports in a row differ by at most this factor.
  int settled_reports = 3;
  double settled = 1.1;
};

/// Judges reports in the order in which they came. Same reports, same answers.
class ReportFilter {
 public:
  /// Most jobs remembered; of more, those that reported last.
  static constexpr std::size_t kMaxJobs = 50'000;

  explicit ReportFilter(ReportFilterRules rules = {}) : rules_(rules) {}

  struct Verdict {
    ReportUse use = ReportUse::kYes;
    /// To be used now: the report, and those of the same run before it that showed with it that
    /// the rate has settled.
    std::vector<ThroughputReport> use_now;
  };
  [[nodiscard]] Verdict judge(const ThroughputReport& report);

 private:
  struct ReportedRun {
    int restarts = 0;
    JobConfiguration configuration;
    Seconds began = 0;  ///< the start, or the last report before a resize; 0: not known
    Seconds last = 0;   ///< time of the last report
    bool settled = false;
    std::vector<ThroughputReport> waiting{};  ///< alike, in a row
  };

  [[nodiscard]] ReportedRun& run_of(const ThroughputReport& report, bool& resized);
  [[nodiscard]] bool agrees(const ReportedRun& run, double throughput) const;
  void forget_old();

  ReportFilterRules rules_;
  std::map<JobKey, ReportedRun> runs_;
};

}  // namespace rubato

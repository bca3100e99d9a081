// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the reports that measure one configuration, not a warm-up or two configurations.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lib/base/units.h"
#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// A report in the form of the models.
struct ThroughputReport {
  ProfileName profile;
  JobConfiguration configuration;
  JobKey job;
  int restarts = 0;
  Seconds time = 0;
  Seconds run_start = 0;  ///< 0: unknown
  double throughput = 0;  ///< samples/s
  bool flagged = false;   ///< implausible

  bool operator==(const ThroughputReport&) const = default;
};

/// How a report is used.
enum class ReportUse {
  kYes,
  kFlagged,
  kNoThroughput,  ///< 0 or not finite
  kOnCpus,        ///< no GPU throughput; the step-time model uses it
  kMixed,         ///< the job holds several GPU types
  kResized,       ///< the job had another configuration at the previous report, or follows slowly
  kWarmUp,        ///< too soon after a start or resize; the throughput has not settled
};
[[nodiscard]] const char* to_string(ReportUse use);

struct ReportFilterRules {
  /// Warm-up after a start or resize, seconds; 0: none. A report covers the time since the previous
  /// one. It is ignored if the middle of that time lies in the warm-up. Without one the reports
  /// after a resize count once two in a row agree, since a job follows a resize when it likes.
  Seconds warm_up = 60;
  /// Ends earlier once this many reports in a row differ by at most the factor `settled`.
  int settled_reports = 3;
  double settled = 1.1;
};

/// Judges reports in order of arrival. Deterministic.
class ReportFilter {
 public:
  /// Maximum number of jobs stored: those that reported last.
  static constexpr std::size_t kMaxJobs = 50'000;

  explicit ReportFilter(ReportFilterRules rules = {}) : rules_(rules) {}

  struct Verdict {
    ReportUse use = ReportUse::kYes;
    /// Reports to use now: this one, and earlier ones of the run, if together they show that the
    /// throughput has settled.
    std::vector<ThroughputReport> use_now;
  };
  [[nodiscard]] Verdict judge(const ThroughputReport& report);

 private:
  struct ReportedRun {
    int restarts = 0;
    JobConfiguration configuration;
    Seconds began = 0;     ///< the start, or the last report before a resize; 0: unknown
    Seconds last = 0;      ///< time of the last report
    bool resized = false;  ///< since its start
    bool settled = false;
    std::vector<ThroughputReport> waiting{};  ///< similar, consecutive
  };

  [[nodiscard]] ReportedRun& run_of(const ThroughputReport& report, bool& resized);
  [[nodiscard]] bool agrees(const ReportedRun& run, double throughput) const;
  void forget_old();

  ReportFilterRules rules_;
  std::map<JobKey, ReportedRun> runs_;
};

}  // namespace rubato

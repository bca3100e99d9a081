// SPDX-License-Identifier: GPL-2.0-or-later
// What Rubato changed in a period, in one sentence, and how sure that is.
#pragma once

#include <optional>
#include <string>

#include "lib/json/period.h"
#include "tools/shared/published.h"

namespace rubato::tools {

/// Days of the verdict of `rubato stats` and `rubato page`.
inline constexpr int kVerdictDays = 7;

/// Managed jobs that started on some days, their waits, and the time to their ends.
struct DayCount {
  int days = 0;
  Seconds from = 0;   ///< first second of the first day; 0 without days
  Seconds until = 0;  ///< first second of the last day
  WaitCount waits;
  WaitCount completions{};  ///< of jobs without a restart: from when they could have run to the end

  [[nodiscard]] double mean() const {
    return waits.jobs > 0 ? static_cast<double>(waits.total) / static_cast<double>(waits.jobs) : 0;
  }
  bool operator==(const DayCount&) const = default;
};

/// Of the last days of stats.json.
struct PeriodVerdict {
  std::string mode;         ///< in effect now
  Seconds from = 0;         ///< first second of the period, UTC
  Seconds until = 0;        ///< when the counts end
  DayCount rubato;          ///< in the period, in modes place and elastic
  DayCount stock;           ///< in mode observe, on all days that are kept
  DayCount observed;        ///< of these, in the period
  WaitCount earlier;        ///< in the period, in mode observe: started earlier by Rubato's plan
  ChangeCount changes{};    ///< in the period
  std::int64_t scored = 0;  ///< jobs so judged
  /// 90 % interval of the mean wait under stock Slurm less that under Rubato, seconds; none with
  /// fewer than three days of either.
  std::optional<double> low{};
  std::optional<double> high{};
  std::string sentence{};  ///< one line of whole sentences

  bool operator==(const PeriodVerdict&) const = default;
};

/// The last `days` days, with the sentence. The interval is by the jackknife over days (Cochran,
/// Sampling Techniques, 1977, section 6.17), with the degrees of freedom of Welch: jobs of one day
/// are not independent.
[[nodiscard]] PeriodVerdict verdict_of(const Periods& periods, const std::string& mode, int days);

/// The days of stats.json; none where it has none.
[[nodiscard]] Periods periods_of(const PublishedStats& stats);

/// "2026-11-21", UTC.
[[nodiscard]] std::string day_text(Seconds day);

}  // namespace rubato::tools

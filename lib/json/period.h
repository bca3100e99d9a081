// SPDX-License-Identifier: GPL-2.0-or-later
// What Rubato did, or in mode observe would have done, day by day. Only what was measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/json_value.h"
#include "lib/base/units.h"

namespace rubato {

inline constexpr const char* kPeriodsSchema = "rubato.periods/1";

/// Waits of jobs that started: from when they could have run to their start.
struct WaitCount {
  std::int64_t jobs = 0;
  Seconds total = 0;    ///< seconds
  Seconds longest = 0;  ///< seconds

  void add(Seconds wait);
  bool operator==(const WaitCount&) const = default;
};

/// Changes of running jobs that came to an end.
struct ChangeCount {
  std::int64_t grown = 0;      ///< got GPUs while they ran
  std::int64_t shrunk = 0;     ///< gave GPUs back while they ran
  std::int64_t restarted = 0;  ///< started again at another size or place
  std::int64_t stopped = 0;    ///< made to wait again
  std::int64_t failed = 0;
  std::int64_t measured = 0;  ///< of those done: their cost is known
  double cost = 0;            ///< seconds without progress of these
  double gain = 0;            ///< of those done, forecast: seconds by which jobs end earlier

  [[nodiscard]] std::int64_t done() const { return grown + shrunk + restarted + stopped; }
  void add(const ChangeCount& more);
  bool operator==(const ChangeCount&) const = default;
};

/// One day (UTC) in one mode. Only managed jobs count.
struct Period {
  Seconds day = 0;   ///< its first second
  std::string mode;  ///< as in rubato.conf
  WaitCount waits;
  std::map<std::string, WaitCount> by_partition;
  std::map<std::string, WaitCount> by_job_type;  ///< "" for jobs without one
  std::int64_t started = 0;                      ///< by Rubato
  /// In observe, each job looked at alone: the plan said start before stock Slurm started it, and
  /// by how much. What the earlier start would have changed for others is not in it.
  WaitCount earlier;
  std::int64_t not_earlier = 0;  ///< stock Slurm started it first, or in the same second
  double gpu_seconds = 0;        ///< held by managed jobs
  std::int64_t reports = 0;      ///< that jobs sent and that were taken
  /// Jobs that ended by themselves in one run: from when they could have run to their end. A job
  /// with a restart is not among them: its first run is not known.
  WaitCount completions{};
  ChangeCount changes{};

  bool operator==(const Period&) const = default;
};

class Periods {
 public:
  /// Days that are kept, a mode each.
  static constexpr std::size_t kMaxPeriods = 62;

  /// The period of `now`; the oldest beyond kMaxPeriods go.
  [[nodiscard]] Period& at(Seconds now, const std::string& mode);
  /// By day, then mode.
  [[nodiscard]] const std::vector<Period>& all() const { return periods_; }

  /// Jobs that started up to here are counted.
  Seconds until = 0;

  /// An object: {"until":..., "days":[...]}. `breakdown` false leaves out partitions and job types.
  [[nodiscard]] JsonValue json(bool breakdown = true) const;
  /// One line for a file, read back by `from_json`.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Result<Periods> from_json(std::string_view text);

  bool operator==(const Periods&) const = default;

 private:
  std::vector<Period> periods_;
};

}  // namespace rubato

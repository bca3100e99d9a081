// SPDX-License-Identifier: GPL-2.0-or-later
// The records of the report by day, described as those of records.h.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/json/period.h"
#include "lib/json/record_description.h"

namespace rubato::json {

/// The members of Periods.
struct PeriodsRecord {
  Seconds until = 0;
  std::vector<Period> days;
};

inline constexpr auto kMaxTotal = static_cast<std::uint64_t>(kJsonMaxTime);

template <typename Visitor, Is<WaitCount> R>
void describe(Visitor& v, R& count) {
  v.number("jobs", count.jobs, kMaxTotal, kAlways);
  v.number("seconds", count.total, kMaxTotal, kAlways);
  v.number("longest", count.longest, kMaxTotal, kAlways);
}

template <typename Visitor, Is<ChangeCount> R>
void describe(Visitor& v, R& changes) {
  v.number("grown", changes.grown, kMaxTotal);
  v.number("shrunk", changes.shrunk, kMaxTotal);
  v.number("restarted", changes.restarted, kMaxTotal);
  v.number("stopped", changes.stopped, kMaxTotal);
  v.number("failed", changes.failed, kMaxTotal);
  v.number("measured", changes.measured, kMaxTotal);
  v.note("measured", "of those done: their cost is known");
  v.real("cost_s", changes.cost);
  v.note("cost_s", "seconds without progress of these");
  v.real("gain_s", changes.gain);
  v.note("gain_s", "forecast of those done: seconds by which jobs end earlier");
}

template <typename Visitor, Is<Period> R>
void describe(Visitor& v, R& period) {
  v.past("day", period.day, kAlways);
  v.note("day", "first second of the day, UTC");
  v.text("mode", period.mode, kAlways);
  v.object("waits", period.waits, kAlways);
  v.by_name("by_partition", period.by_partition);
  v.by_name("by_job_type", period.by_job_type);
  v.number("started", period.started, kMaxTotal, kAlways);
  v.object("earlier", period.earlier, kAlways);
  v.number("not_earlier", period.not_earlier, kMaxTotal, kAlways);
  v.real("gpu_seconds", period.gpu_seconds, kAlways);
  v.number("reports", period.reports, kMaxTotal, kAlways);
  v.object("completions", period.completions);
  v.note("completions",
         "jobs that ended by themselves in one run: seconds from when they could have run to their "
         "end");
  v.object("changes", period.changes);
  v.note("changes", "changes of running jobs that came to an end");
}

template <typename Visitor, Is<PeriodsRecord> R>
void describe(Visitor& v, R& periods) {
  v.past("until", periods.until, kAlways);
  v.list("days", periods.days, kUnlimited, kAlways);
}

}  // namespace rubato::json

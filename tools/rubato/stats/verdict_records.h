// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict and the use of GPUs, described as the records of lib/json/records.h.
#pragma once

#include <vector>

#include "lib/json/period_records.h"
#include "tools/rubato/stats/verdict.h"
#include "tools/shared/gpu_use.h"

namespace rubato::tools {

/// What `rubato stats --json` has besides the members of stats.json.
struct StatsExtras {
  PeriodVerdict verdict;
  std::vector<GpuTypeUse> gpu_types;
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::DayCount> R>
void describe(Visitor& v, R& count) {
  v.number("days", static_cast<std::int64_t>(count.days), kMaxTotal, kAlways);
  v.note("days", "on which managed jobs started");
  v.past("from", count.from);
  v.note("from", "first second of the first of them, UTC");
  v.past("until", count.until);
  v.note("until", "first second of the last of them, UTC");
  v.object("waits", count.waits, kAlways);
  v.object("completions", count.completions);
  v.note("completions",
         "jobs that ended by themselves in one run: seconds from when they could have run to their "
         "end");
}

template <typename Visitor, Is<tools::PeriodVerdict> R>
void describe(Visitor& v, R& verdict) {
  v.text("sentence", verdict.sentence, kAlways);
  v.past("from", verdict.from);
  v.note("from", "first second of the period, UTC");
  v.past("until", verdict.until);
  v.note("until", "when the counts end");
  v.object("rubato", verdict.rubato, kAlways);
  v.note("rubato", "managed jobs that started in modes place and elastic, in the period");
  v.object("stock", verdict.stock, kAlways);
  v.note("stock", "managed jobs that started in mode observe, on all days that are kept");
  v.object("changes", verdict.changes);
  v.note("changes", "changes of running jobs that came to an end in the period");
  v.object("earlier", verdict.earlier, kAlways);
  v.note("earlier", "in mode observe, in the period: jobs that Rubato's plan started earlier");
  v.number("scored", verdict.scored, kMaxTotal, kAlways);
  v.note("scored", "jobs so judged");
  v.real("gain_low", verdict.low);
  v.note("gain_low",
         "90% interval of the mean wait under stock Slurm less that under Rubato, seconds; left "
         "out with fewer than three days of either");
  v.real("gain_high", verdict.high);
}

template <typename Visitor, Is<tools::GpuTypeUse> R>
void describe(Visitor& v, R& use) {
  v.text("gpu_type", use.type, kAlways);
  v.count("nodes", use.nodes, kAlways);
  v.count("gpus", use.total, kAlways);
  v.count("held", use.held, kAlways);
  v.note("held", "allocated to jobs");
  v.count("free", use.free, kAlways);
  v.note("free", "not allocated, on nodes in service");
  v.count("out", use.out, kAlways);
  v.note("out", "not allocated, on nodes that are down or drained");
  v.count("free_on_empty_nodes", use.whole, kAlways);
  v.count("largest_free", use.largest, kAlways);
  v.note("largest_free", "most free GPUs on one node");
  v.count("starved", use.starved, kAlways);
  v.note("starved", "free GPUs on nodes without a free core or free memory");
  v.real("price", use.price);
  v.note("price", "in mode elastic, relative to the mean of all types");
}

template <typename Visitor, Is<tools::StatsExtras> R>
void describe(Visitor& v, R& extras) {
  v.object("verdict", extras.verdict, kAlways);
  v.note("verdict", "what changed for waits in the last seven days, and how sure that is");
  v.list("gpu_types", extras.gpu_types, kUnlimited, kAlways);
  v.note("gpu_types", "GPUs by type in the last snapshot; none without one");
}

}  // namespace rubato::json

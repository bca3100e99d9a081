// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato whatif`, described as those of lib/json/records.h.
#pragma once

#include <string>
#include <vector>

#include "lib/json/record_description.h"
#include "lib/replay/whatif.h"

namespace rubato::tools {

inline constexpr const char* kWhatIfSchema = "rubato.whatif/1";

struct WhatIfRow {
  std::string name;
  WhatIfOutcome outcome;
};

struct WhatIfAnswer {
  std::string partition;
  std::string account;
  std::string job_type;
  int waiting = 0;
  int blocked = 0;
  std::vector<WhatIfRow> rows{};
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::WhatIfRow> R>
void describe(Visitor& v, R& row) {
  auto& out = row.outcome;
  v.text("alternative", row.name, kAlways);
  v.past("start", out.start);
  v.note("start",
         "if all jobs run for as long as expected; missing: beyond the simulation, or never");
  v.past("latest", out.latest);
  v.note("latest", "start, if all jobs run to their time limits");
  v.past("end", out.end);
  v.yes("end_is_limit", out.start > 0 && !out.told);
  v.note("end_is_limit", "its run time is unknown, so `end` is its time limit");
  v.text("gpu_type", out.gpu_type);
  v.number("gpus", out.gpus, kMaxInt);
  v.texts("nodes", out.nodes);
  v.real("gpu_hours", out.gpu_hours);
  v.number("delayed_jobs", out.delayed, kMaxInt, kAlways);
  v.note("delayed_jobs", "jobs that start later because of it");
  v.number("delay_s", out.delay, kMaxSamples, kAlways);
  v.note("delay_s", "sum of their delays");
  v.number("displaced_jobs", out.displaced, kMaxInt, kAlways);
  v.note("displaced_jobs", "jobs that start in the simulation without it, but not with it");
}

template <typename Visitor, Is<tools::WhatIfAnswer> R>
void describe(Visitor& v, R& answer) {
  v.text("partition", answer.partition, kAlways);
  v.text("account", answer.account);
  v.text("job_type", answer.job_type);
  v.number("waiting", answer.waiting, kMaxInt, kAlways);
  v.note("waiting", "pending jobs in the simulation");
  v.number("blocked", answer.blocked, kMaxInt, kAlways);
  v.note("blocked", "pending jobs that Slurm blocks, left out");
  v.list("alternatives", answer.rows, kUnlimited, kAlways);
}

}  // namespace rubato::json

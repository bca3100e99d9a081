// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a stored report to the form of the models.
#pragma once

#include "lib/model/plans/plan.h"
#include "lib/model/throughput/report_filter.h"
#include "lib/store/records.h"

namespace rubato::store {

[[nodiscard]] inline ThroughputReport measured(const Sample& sample) {
  ThroughputReport made;
  made.profile = {.account = sample.type.shared ? "" : sample.type.account,
                  .job_type = sample.type.name};
  made.configuration.gpu_type = sample.gpu_type;
  made.configuration.gpus = sample.gpus;
  made.configuration.nodes = sample.nodes;
  made.configuration.batch = sample.batch;
  made.configuration.plan = canonical_plan(sample.plan, sample.gpus);
  made.job = sample.job;
  made.restarts = sample.restarts;
  made.time = sample.time;
  made.run_start = sample.run_start;
  made.throughput = sample.throughput;
  made.flagged = sample.flag != Flag::kNone;
  return made;
}

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// A stored report, as models see it.
#pragma once

#include "lib/model/throughput/usable.h"
#include "lib/store/records.h"

namespace rubato::store {

[[nodiscard]] inline MeasuredRate measured(const Sample& sample) {
  MeasuredRate made;
  made.profile = {.account = sample.type.shared ? "" : sample.type.account,
                  .job_type = sample.type.name};
  made.place.gpu_type = sample.gpu_type;
  made.place.gpus = sample.gpus;
  made.place.nodes = sample.nodes;
  made.place.batch = sample.batch;
  made.place.plan = sample.plan;
  made.job = sample.job;
  made.restarts = sample.restarts;
  made.time = sample.time;
  made.run_start = sample.run_start;
  made.rate = sample.rate;
  made.flagged = sample.flag != Flag::kNone;
  return made;
}

}  // namespace rubato::store

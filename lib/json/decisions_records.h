// SPDX-License-Identifier: GPL-2.0-or-later
// The records of decisions.json, described as those of records.h.
#pragma once

#include "lib/json/decisions.h"
#include "lib/json/records.h"

namespace rubato::json {

template <typename Visitor, Is<BetterPlace> R>
void describe(Visitor& v, R& better) {
  v.text("gpu_type", better.gpu_type);
  v.count("gpus", better.gpus);
  v.real("ratio", better.ratio);
  v.note("ratio", "its throughput over that of the run, by the forecasts");
  v.real("low", better.low);
  v.note("low", "lower end of the 90% interval of the ratio");
  v.real("high", better.high);
}

template <typename Visitor, Is<RunSummary> R>
void describe(Visitor& v, R& summary) {
  v.past("eligible", summary.eligible);
  v.note("eligible", "from when Slurm would have let it start");
  v.text("gpu_type", summary.gpu_type);
  v.count("gpus", summary.gpus);
  v.note("gpus", "that it held at its end");
  v.count("nodes", summary.nodes);
  v.real("gpu_seconds", summary.gpu_seconds);
  v.note("gpu_seconds", "GPUs that it held, multiplied by seconds");
  v.count("restarts", summary.restarts);
  v.note("restarts", "of the job before this run");
  v.real("forecast", summary.forecast);
  v.note("forecast", "samples/s, as at its start; left out where there was none");
  v.number("time_limit", summary.time_limit, kMaxSamples);
  v.note("time_limit", "seconds; left out without one");
  v.yes("completed", summary.completed);
  v.note("completed", "it ended by itself, with exit code 0");
  v.object("better", summary.better);
  v.note("better",
         "a request that jobs of its type would do better with; left out where the models are not "
         "sure of one");
}

template <typename Visitor, Is<StartRecord> R>
void describe(Visitor& v, R& record) {
  describe(v, record.job);
  v.text("label", record.label);
  v.note("label", "the job as squeue shows it");
  v.text("kind", record.kind);
  v.note("kind", "start, or in mode observe would-start");
  v.time("time", record.time);
  v.note("time", "of the round that decided");
  v.number("round", record.round, static_cast<std::uint64_t>(kJsonMaxTime));
  v.time("start", record.start);
  v.note("start", "of the run");
  v.time("end", record.end);
  v.note("end", "when Rubato first saw that the job no longer ran; left out while it runs");
  v.object("told", record.told, kRequired);
  v.note("told",
         "the explanation in plan.json; of an array task that of its array, with the nodes and "
         "GPUs of the task");
  v.number("samples", record.samples, kMaxSamples);
  v.note("samples", "done, by the last report of an ended job");
  v.real("rate", record.throughput);
  v.note("rate", "samples/s, by the last report of an ended job");
  v.object("summary", record.summary);
  v.note("summary", "what an ended run did");
}

template <typename Visitor, Is<StartRecords> R>
void describe(Visitor& v, R& records) {
  v.list("decisions", records, kUnlimited, kRequired);
}

}  // namespace rubato::json

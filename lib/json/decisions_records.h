// SPDX-License-Identifier: GPL-2.0-or-later
// The records of decisions.json, described as those of records.h.
#pragma once

#include "lib/json/decisions.h"
#include "lib/json/records.h"

namespace rubato::json {

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
}

template <typename Visitor, Is<StartRecords> R>
void describe(Visitor& v, R& records) {
  v.list("decisions", records, kUnlimited, kRequired);
}

}  // namespace rubato::json

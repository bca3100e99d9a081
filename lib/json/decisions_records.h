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
  v.text("kind", record.kind);
  v.time("time", record.time);
  v.number("round", record.round, static_cast<std::uint64_t>(kJsonMaxTime));
  v.time("start", record.start);
  v.time("end", record.end);
  v.object("told", record.told, kRequired);
}

template <typename Visitor, Is<StartRecords> R>
void describe(Visitor& v, R& records) {
  v.list("decisions", records, kUnlimited, kRequired);
}

}  // namespace rubato::json

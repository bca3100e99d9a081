// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato hold-size`, described as those of lib/json/records.h.
#pragma once

#include "lib/json/record_description.h"

namespace rubato::tools {

inline constexpr const char* kHoldSizeSchema = "rubato.hold-size/1";

struct HoldAnswer {
  JobId job = 0;
  int gpus = 0;
  bool held = false;
  Seconds since = 0;
  Seconds until = 0;
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::HoldAnswer> R>
void describe(Visitor& v, R& answer) {
  v.id("job_id", answer.job);
  v.number("gpus", answer.gpus, kMaxInt, kAlways);
  v.yes("held", answer.held, kAlways);
  v.note("held", "the round does not change its size");
  v.past("since", answer.since);
  v.past("until", answer.until);
  v.note("until", "left out: until it is released");
}

}  // namespace rubato::json

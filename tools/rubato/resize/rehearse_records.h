// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato rehearse`, described as those of lib/json/records.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/json/record_description.h"

namespace rubato::tools {

inline constexpr const char* kRehearseSchema = "rubato.rehearse/1";

/// What a rehearsal would do, or what was seen of it.
struct RehearseAnswer {
  JobId job = 0;
  std::string step;  ///< possible, asked or done
  int gpus = 0;
  std::string gpu_type{};
  std::vector<std::string> nodes{};
  std::string signal{};  ///< as in the hint checkpoint
  Seconds lead = 0;
  std::optional<Seconds> answered{};  ///< after the signal
  Seconds stopped = 0;
  std::optional<std::int64_t> samples_before{};
  std::optional<std::int64_t> samples_after{};
  Seconds reported = 0;  ///< after the start
  bool proven = false;
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::RehearseAnswer> R>
void describe(Visitor& v, R& answer) {
  v.id("job_id", answer.job);
  v.text("step", answer.step, kAlways);
  v.note("step", "possible (--dry-run), asked (--no-wait) or done");
  v.number("gpus", answer.gpus, kMaxInt, kAlways);
  v.text("gpu_type", answer.gpu_type);
  v.texts("nodes", answer.nodes);
  v.note("nodes", "its place afterwards");
  v.text("signal", answer.signal, kAlways);
  v.note("signal", "as in the hint checkpoint");
  v.number("lead_s", answer.lead, kMaxSamples, kAlways);
  v.note("lead_s", "the longest time between the signal and the requeue");
  v.number("answered_s", answer.answered, kMaxSamples);
  v.note("answered_s", "time from the signal until the job said that it is ready");
  v.number("stopped_s", answer.stopped, kMaxSamples);
  v.note("stopped_s", "time between the requeue and the start");
  v.number("samples_before", answer.samples_before, kMaxSamples);
  v.note("samples_before", "of its last report before the requeue");
  v.number("samples_after", answer.samples_after, kMaxSamples);
  v.note("samples_after", "of its first report after the start");
  v.number("reported_s", answer.reported, kMaxSamples);
  v.note("reported_s", "time between the start and that report");
  v.yes("proven", answer.proven, kAlways);
  v.note("proven", "the job answered, or goes on from where it was");
}

}  // namespace rubato::json

// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato resize`, described as those of lib/json/records.h.
#pragma once

#include <string>
#include <vector>

#include "lib/json/record_description.h"

namespace rubato::tools {

inline constexpr const char* kResizeSchema = "rubato.resize/1";

/// What a resize would do, or did.
struct ResizeAnswer {
  JobId job = 0;
  std::string step;  ///< possible, asked or done
  std::string how;   ///< live or restart
  int from = 0;
  int gpus = 0;
  std::string gpu_type{};
  std::vector<std::string> nodes{};
  std::vector<std::string> freed_nodes{};
  std::vector<std::string> added_nodes{};
  Seconds lead = 0;
  Seconds stopped = 0;
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::ResizeAnswer> R>
void describe(Visitor& v, R& answer) {
  v.id("job_id", answer.job);
  v.text("step", answer.step, kAlways);
  v.note("step", "possible (--dry-run), asked (--no-wait) or done");
  v.text("how", answer.how, kAlways);
  v.note("how", "live or restart");
  v.number("from", answer.from, kMaxInt, kAlways);
  v.note("from", "GPUs before");
  v.number("gpus", answer.gpus, kMaxInt, kAlways);
  v.text("gpu_type", answer.gpu_type);
  v.texts("nodes", answer.nodes);
  v.note("nodes", "its place afterwards");
  v.texts("freed_nodes", answer.freed_nodes);
  v.note("freed_nodes", "live: the nodes that it gives back");
  v.texts("added_nodes", answer.added_nodes);
  v.note("added_nodes", "live: the nodes on which it gets more; some may be its own");
  v.number("lead_s", answer.lead, kMaxSamples, kAlways);
  v.note("lead_s", "time between the checkpoint signal and the requeue or the loss of nodes");
  v.number("stopped_s", answer.stopped, kMaxSamples);
  v.note("stopped_s", "time between the requeue and the start");
}

}  // namespace rubato::json

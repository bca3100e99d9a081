// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato whatif --mode elastic`: what mode elastic would do in the next round.
#pragma once

#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/json/record_description.h"
#include "lib/model/models.h"

namespace rubato::tools {

inline constexpr const char* kWhatIfModeSchema = "rubato.whatif-mode/1";

/// A running job that mode elastic would change.
struct ModeChange {
  JobId id = 0;
  std::string label{};  ///< as squeue names it
  std::string user{};
  std::string action{};  ///< stop, restart, shrink, grow or notify
  int gpus_now = 0;
  std::string gpu_type_now{};
  int gpus = 0;  ///< afterwards; 0: it waits
  std::string gpu_type{};
  Seconds end_now = 0;  ///< expected, as it runs now
  Seconds end = 0;      ///< expected, changed; 0: it waits
  double cost = 0;      ///< seconds without progress
};

struct ModeAnswer {
  int running = 0;     ///< managed jobs with GPUs
  int consenting = 0;  ///< of them, by their hints
  int starts_now = 0;  ///< in a round of the present mode, or of mode place if that is observe
  int starts = 0;      ///< in a round of mode elastic
  std::vector<ModeChange> changes{};
};

/// A round of mode elastic on the snapshot, beside one of the present mode.
[[nodiscard]] ModeAnswer elastic_answer(const Snapshot& snapshot, const Models& models,
                                        const Config& config);

void print_answer(const ModeAnswer& answer, const Config& config);

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::ModeChange> R>
void describe(Visitor& v, R& change) {
  v.id("id", change.id);
  v.text("label", change.label);
  v.text("user", change.user);
  v.text("action", change.action, kAlways);
  v.note("action", "stop and restart interrupt the job; shrink, grow and notify do not");
  v.number("gpus_now", change.gpus_now, kMaxInt, kAlways);
  v.text("gpu_type_now", change.gpu_type_now);
  v.number("gpus", change.gpus, kMaxInt, kAlways);
  v.note("gpus", "afterwards; 0: it waits");
  v.text("gpu_type", change.gpu_type);
  v.past("end_now", change.end_now);
  v.note("end_now", "expected end as it runs now");
  v.past("end", change.end);
  v.note("end", "expected end after the change; missing: it waits");
  v.real("cost_s", change.cost);
  v.note("cost_s", "of the change: seconds without progress");
}

template <typename Visitor, Is<tools::ModeAnswer> R>
void describe(Visitor& v, R& answer) {
  v.number("running", answer.running, kMaxInt, kAlways);
  v.note("running", "managed jobs with GPUs");
  v.number("consenting", answer.consenting, kMaxInt, kAlways);
  v.note("consenting", "running jobs whose hints allow changes");
  v.number("starts_now", answer.starts_now, kMaxInt, kAlways);
  v.note("starts_now",
         "starts in a round of the present mode, or of mode place if that is observe");
  v.number("starts", answer.starts, kMaxInt, kAlways);
  v.note("starts", "starts in a round of mode elastic");
  v.list("changes", answer.changes, kUnlimited, kAlways);
}

}  // namespace rubato::json

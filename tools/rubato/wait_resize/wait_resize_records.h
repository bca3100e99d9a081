// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato wait-resize`, described as those of lib/json/records.h.
#pragma once

#include <string>

#include "lib/hints/message.h"
#include "lib/json/notice.h"
#include "lib/json/record_description.h"

namespace rubato::tools {

inline constexpr const char* kWaitResizeSchema = "rubato.wait-resize/1";

/// What a job heard, and how long it still has.
struct WaitAnswer {
  JobId job = 0;
  Notice notice;
  Seconds left = 0;
  int code = 0;  ///< exit code
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::WaitAnswer> R>
void describe(Visitor& v, R& answer) {
  v.id("job_id", answer.job);
  v.number("notice", answer.notice.number, static_cast<std::uint64_t>(kMaxNotice), kAlways);
  v.word("step", answer.notice.step, notice_step_from);
  v.note("step", "coming, done, or failed: the job keeps its size");
  v.yes("live", answer.notice.live, kAlways);
  v.note("live", "the job runs on; else it is restarted");
  v.number("from", answer.notice.from, kMaxInt, kAlways);
  v.note("from", "GPUs before");
  v.number("gpus", answer.notice.gpus, kMaxInt, kAlways);
  v.note("gpus", "GPUs afterwards; 0: the job waits in the queue again");
  v.time("due", answer.notice.due);
  v.note("due", "when the change comes at the latest");
  v.number("left_s", answer.left, kMaxSamples);
  v.note("left_s", "seconds until then");
  v.text("leave", answer.notice.leave);
  v.note("leave", "hostlist of the nodes that go");
  v.text("come", answer.notice.come);
  v.note("come", "hostlist of the nodes that come");
  v.number("batch", answer.notice.batch, static_cast<std::uint64_t>(kMaxBatch));
  v.note("batch", "global batch on these GPUs, samples; left out: as before");
  v.text("plan", answer.notice.plan);
  v.note("plan", "execution plan from now on; left out: as before");
  v.number("exit", answer.code, kMaxInt, kAlways);
  v.note("exit",
         "exit code: 0 go on, 10 save a checkpoint and wait, 11 save and leave the nodes, 12 keep "
         "the size, 13 keep the GPUs and run with another batch or plan");
}

}  // namespace rubato::json

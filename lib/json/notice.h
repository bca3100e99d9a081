// SPDX-License-Identifier: GPL-2.0-or-later
// What a running job hears of a change of its size, or of its batch or execution plan alone, in its
// system_comment: `{rubato-notice n=3 step=coming how=live from=8 gpus=4 due=1795262457 leave=n2}`.
// The grammar is described in rubato-files(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/units.h"

namespace rubato {

/// Longest notice, bytes, braces included.
inline constexpr std::size_t kMaxNoticeLength = 256;

/// How far the change is.
enum class NoticeStep {
  kComing,  ///< the job has its signal; at `due` it loses nodes, or is requeued
  kDone,    ///< it runs on with `gpus` GPUs
  kFailed,  ///< the change was given up: it keeps `from` GPUs
};

struct Notice {
  std::int64_t number = 0;  ///< from 1; grows with each notice of a run
  NoticeStep step = NoticeStep::kComing;
  bool live = false;       ///< it runs on; else it is restarted
  int from = 0;            ///< GPUs that it has, or had
  int gpus = 0;            ///< GPUs afterwards; 0: it waits in the queue again
  Seconds due = 0;         ///< when the change comes at the latest; 0: it has come
  std::string leave;       ///< hostlist of the nodes that go; "": none, or too long to be told
  std::string come;        ///< hostlist of the nodes that come
  std::int64_t batch = 0;  ///< global batch with `gpus` GPUs, samples; 0: as before
  std::string plan = {};   ///< execution plan from now on; "": as before

  /// It keeps its GPUs, and is told how to run on them.
  [[nodiscard]] bool keeps_gpus() const {
    return step == NoticeStep::kDone && from == gpus && (batch > 0 || !plan.empty());
  }

  bool operator==(const Notice&) const = default;
};

/// One line of at most kMaxNoticeLength bytes; a list of nodes that is too long is left out.
[[nodiscard]] std::string render_notice(const Notice& notice);

/// The notice in a system_comment; none if there is none or it has a wrong value. Keys that are not
/// known do not count: a later release may have more.
[[nodiscard]] std::optional<Notice> find_notice(std::string_view system_comment);

/// `system_comment` with its notice replaced by `notice`; null removes it.
[[nodiscard]] std::string with_notice(std::string_view system_comment, const Notice* notice);

[[nodiscard]] const char* to_string(NoticeStep);
[[nodiscard]] std::optional<NoticeStep> notice_step_from(const std::string&);

}  // namespace rubato

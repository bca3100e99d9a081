// SPDX-License-Identifier: GPL-2.0-or-later
// The state of a job in its system_comment: `{rubato key=value ...}`, one segment between text of
// others. The grammar is described in rubato-files(5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/units.h"
#include "lib/hints/types.h"

namespace rubato {

/// Longest segment, bytes, braces included.
inline constexpr std::size_t kMaxAnnotationLength = 256;

/// What is published of a job. What is not known has the value that its member has here.
struct JobAnnotation {
  std::string job_type;
  int level = -1;            ///< of the multi-level queue
  std::string gpu_type;      ///< that it runs on or is to run on
  int gpus = 0;              ///< that it holds; of a pending job, that it asks for
  GpuSizes sizes;            ///< numbers of GPUs it can run at
  std::string plan;          ///< execution plan
  double throughput = -1;    ///< samples/s of the last report; not finite counts as not known
  std::int64_t samples = 0;  ///< done so far
  Seconds remaining = -1;    ///< expected time to its end
  Seconds left_low = -1;     ///< nine times of ten its end comes after this
  Seconds left_high = -1;    ///< and before this
  std::string predictable;   ///< P if its forecasts can be trusted, U if not; "" not known
  Seconds start = 0;         ///< latest expected start of a pending job; 0: not known
  std::string wait;          ///< why it waits: one word
  bool held = false;         ///< the round does not change its size
  Seconds at = 0;            ///< when `remaining` and its interval held; 0: not known

  bool operator==(const JobAnnotation&) const = default;
};

/// One line of at most kMaxAnnotationLength bytes. Words are left out if they hold other bytes than
/// letters, digits and `._+:@/,-`; if the line would be too long, `sizes`, `plan`, `job-type` and
/// `gpu-type` go, in this order: nothing is ever cut in the middle. `throughput` has four
/// significant digits.
[[nodiscard]] std::string render_annotation(const JobAnnotation& annotation);

/// The first segment of a system_comment; none if there is none or it has a wrong value. Keys that
/// are not known do not count: a later release may have more.
[[nodiscard]] std::optional<JobAnnotation> find_annotation(std::string_view system_comment);

/// `system_comment` with its segment replaced by `annotation`, or added behind a blank; all
/// segments and the blank that was added go where it is null. Other text is kept byte for byte.
[[nodiscard]] std::string with_annotation(std::string_view system_comment,
                                          const JobAnnotation* annotation);

/// The same with a segment that was rendered already; "" for none.
[[nodiscard]] std::string with_annotation_text(std::string_view system_comment,
                                               std::string_view annotation);

/// The text of the first segment, braces included; "" if there is none. A view into the argument.
[[nodiscard]] std::string_view segment_text(std::string_view system_comment);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// What the segment of a job says, from a round.
#pragma once

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/annotation.h"

namespace rubato {

/// The segment of a pending or running job. `told` is its explanation, `progress` its last report,
/// `service` what it has had of the GPUs, `progress_history` its forecasts; null where there is
/// none. Rate, samples and, without a course, remaining time are those of that report; what is left
/// of a running job's work is told only if the job said how much there is, or its loss does.
[[nodiscard]] JobAnnotation annotation_of(const Job& job, const Explanation* told,
                                          const Progress* progress,
                                          const Service* service = nullptr,
                                          const ProgressHistory* progress_history = nullptr);

/// GPUs of an allocation, and their type: several types in the order of their names, `a100+h100`.
struct HeldGpus {
  int gpus = 0;
  std::string type;
  std::vector<GpuCount> groups = {};  ///< by node, in each by the name of the type

  bool operator==(const HeldGpus&) const = default;
};
[[nodiscard]] HeldGpus held_gpus(const std::vector<NodeShare>& allocation);

/// `now` says something else than `shown`, which stands in the job: an expected start counts as the
/// same as long as it moves by less than a minute.
[[nodiscard]] bool differs(const JobAnnotation& shown, const JobAnnotation& now);

}  // namespace rubato

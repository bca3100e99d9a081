// SPDX-License-Identifier: GPL-2.0-or-later
// Which jobs a person means by 12, 12_3 or 12+1.
#pragma once

#include <optional>
#include <string>

#include "lib/base/error.h"
#include "lib/core/job.h"

namespace rubato::tools {

/// A job as it is named on a command line.
struct JobSelector {
  std::string text;  ///< as typed
  JobId id = 0;
  std::optional<int> task;  ///< of an array
  std::optional<int> part;  ///< of a heterogeneous job
};

/// JOBID, ARRAYID_TASK or HETID+PART.
[[nodiscard]] Result<JobSelector> parse_selector(const std::string& text);

/// True if `job` is the one meant, or a piece of it: 12 means every task of array 12; 12_3 also
/// means the pending rest of the array ("12_[3-9]").
[[nodiscard]] bool matches(const JobSelector& selector, const Job& job);

/// Task `task` stands in the label of a pending array ("12_[0-3,7,10-20:5%2]"). A label that squeue
/// shortened ("12_[1,3,5...]") holds all tasks from its last one on; "12_[*]" holds any.
[[nodiscard]] bool label_has_task(const std::string& label, int task);

}  // namespace rubato::tools

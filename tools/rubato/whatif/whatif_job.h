// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs that `rubato whatif` plays: the one that was written, and alternatives to it.
#pragma once

#include <string>
#include <vector>

#include "lib/core/snapshot.h"
#include "tools/rubato/whatif/whatif_options.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// Who would submit it.
struct Submitter {
  std::string user;
  std::uint32_t uid = 0;
  std::string account;  ///< without --account; "" if it is not known
};

/// The pending job that sbatch would make of `options`, with the last place in the queue of its
/// partition unless `priority` is above 0. What it leaves out comes from slurm.conf. Fails for
/// options that sbatch or Rubato would refuse, for a partition that Rubato does not manage, and
/// for a request that no node set of the partition carries.
[[nodiscard]] Result<Job> job_of(const SubmitOptions& options, const Submitter& submitter,
                                 const Site& site, const Snapshot& snapshot, int priority);

struct Alternative {
  std::string name;
  Job job;
};

/// The job as written; at the sizes that its hints allow, at most kMaxSizesShown; on each GPU type
/// that it accepts, where there are several.
inline constexpr std::size_t kMaxSizesShown = 6;
[[nodiscard]] std::vector<Alternative> alternatives_of(const Job& job, const Snapshot& snapshot);

}  // namespace rubato::tools

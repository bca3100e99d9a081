// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to slurmctld about a job, made in process.
#pragma once

#include <memory>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

struct FreeJobDescription {
  void operator()(job_desc_msg_t* request) const { slurm_free_job_desc_msg(request); }
};
using JobDescription = std::unique_ptr<job_desc_msg_t, FreeJobDescription>;

/// With nothing set. Its texts are in Slurm's memory.
[[nodiscard]] JobDescription new_job_description();

/// slurmctld's update_job(), as its own user: the change is Rubato's, not the owner's. A Slurm
/// error. Needs LockKind::kAct.
[[nodiscard]] int update_as_slurm_user(job_desc_msg_t& update);

}  // namespace rubato

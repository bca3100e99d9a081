// SPDX-License-Identifier: GPL-2.0-or-later
// A submission, an update and a job record, reduced to what hints depend on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/hints/facts.h"
#include "lib/hints/passed.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// Hints of a submission outside its comment: the control environment that the SPANK plugin wrote,
/// and RUBATO_DL_* of the job's own environment. The latter counts if the client lacks the plugin.
[[nodiscard]] PassedHints passed_by(const job_desc_msg_t& job);

/// The request of a submission, without cluster_types. `requeue_default` is JobRequeue of
/// slurm.conf.
[[nodiscard]] RequestFacts facts_of(const job_desc_msg_t& job, bool requeue_default);

/// The request of a job in slurmctld, without cluster_types.
[[nodiscard]] RequestFacts facts_of(const job_record_t& job);

/// True if the update changes the request: GPUs, nodes, tasks, time, exclusive, requeue.
[[nodiscard]] bool touches_request(const job_desc_msg_t& update);

/// Changes `facts` as `update` would.
void apply_update(const job_desc_msg_t& update, RequestFacts& facts);

}  // namespace rubato

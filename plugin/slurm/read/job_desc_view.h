// SPDX-License-Identifier: GPL-2.0-or-later
// A submission, an update and a job record, as far as hints depend on them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/hints/facts.h"
#include "lib/hints/passed.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// What a submission says outside its comment: the control environment that the SPANK plugin wrote,
/// and RUBATO_DL_* of the job's own environment, which counts where the client has no such plugin.
[[nodiscard]] PassedHints passed_by(const job_desc_msg_t& job);

/// The request of a submission. `requeue_default` is JobRequeue of slurm.conf. Without
/// cluster_types.
[[nodiscard]] RequestFacts facts_of(const job_desc_msg_t& job, bool requeue_default);

/// The request of a job that slurmctld has. Without cluster_types.
[[nodiscard]] RequestFacts facts_of(const job_record_t& job);

/// Says something of the request: GPUs, nodes, tasks, time, exclusive, requeue.
[[nodiscard]] bool touches_request(const job_desc_msg_t& update);

/// `facts` as they are after `update`.
void apply_update(const job_desc_msg_t& update, RequestFacts& facts);

}  // namespace rubato

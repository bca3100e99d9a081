// SPDX-License-Identifier: GPL-2.0-or-later
// The request that a job was submitted with, which its environment keeps after a start at another
// size. Calls no function of slurmctld.
#pragma once

#include <optional>

#include "plugin/slurm/read/job_request.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// The fields that `job` was submitted with, if it was started at another size; else nullopt.
[[nodiscard]] std::optional<RequestFields> kept_request(const job_record_t& job);

/// True for a pending job whose last start was at another size and whose original request is not
/// restored yet (restore_request()).
[[nodiscard]] bool owes_request(const job_record_t& job);

/// Why a pending job must start at the size it requests, whatever its hints offer. Null if another
/// size is possible.
[[nodiscard]] const char* why_size_is_bound(const job_record_t& job);

}  // namespace rubato

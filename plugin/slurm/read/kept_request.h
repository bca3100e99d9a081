// SPDX-License-Identifier: GPL-2.0-or-later
// The submitted request, which a job's environment keeps after a start at another size. Calls no
// function of slurmctld.
#pragma once

#include <optional>

#include "plugin/slurm/read/job_request.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// The submitted fields of `job`, if it was started at another size; else nullopt.
[[nodiscard]] std::optional<RequestFields> kept_request(const job_record_t& job);

/// A copy of the record of a job with kept fields, as it was submitted, to be read like one. Its
/// pointers are those of `job` and `fields`, which must outlive it.
struct SubmittedRecord {
  /// `gpu` is the present GPU request of the job; null if it has none.
  SubmittedRecord(const job_record_t& job, const gres_job_state_t* gpu, RequestFields& fields);
  SubmittedRecord(const SubmittedRecord&) = delete;
  SubmittedRecord& operator=(const SubmittedRecord&) = delete;
  ~SubmittedRecord() = default;

  job_record_t job;
  job_details_t details;
  gres_job_state_t gpu;
};

/// True for a pending job whose last start was at another size and whose original request is not
/// restored yet (restore_request()).
[[nodiscard]] bool owes_request(const job_record_t& job);

/// Why a pending job must start at the requested size, despite its hints. Null if another size is
/// possible.
[[nodiscard]] const char* why_size_is_bound(const job_record_t& job);

}  // namespace rubato

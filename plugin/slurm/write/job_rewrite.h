// SPDX-License-Identifier: GPL-2.0-or-later
// Rewrites the request of a pending job, and restores it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/core/job.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// During its lifetime, a pending job requests another size. Slurm itself parses the new request
/// (gres_job_state_validate, as at submit). Counts for limits are updated, and the request is read
/// back and compared. The destructor restores everything unless keep() was called. An object must
/// not outlive one hold of LockKind::kAct.
class RewrittenRequest {
 public:
  /// `planned` is at_size() of `asked`, a job of the snapshot in `part`. The error says why the
  /// size is not possible; the record is then unchanged. `put_back` false does not restore, for a
  /// test.
  [[nodiscard]] static Result<std::unique_ptr<RewrittenRequest>> make(job_record_t& job,
                                                                      part_record_t& part,
                                                                      const Job& asked,
                                                                      const Job& planned,
                                                                      bool put_back = true);
  ~RewrittenRequest();
  RewrittenRequest(const RewrittenRequest&) = delete;
  RewrittenRequest& operator=(const RewrittenRequest&) = delete;

  /// Call after the job started. Stores the original request in the job's environment, where
  /// restore_request() finds it, and sets sbatch's size variables. Restores the request of an
  /// array's other tasks, which slurmctld copied from the rewritten one. All of it was prepared
  /// before the start, so that it cannot fail.
  void keep() noexcept;

 private:
  struct Saved;

  RewrittenRequest(job_record_t& job, part_record_t& part, bool put_back);
  [[nodiscard]] Result<void> write(const Job& asked, const Job& planned);
  void put_back() noexcept;
  void restore_rest() noexcept;

  job_record_t& job_;
  part_record_t& part_;
  bool put_back_;
  bool whole_array_;              // not split into tasks yet
  std::unique_ptr<Saved> saved_;  // null: kept
};

/// Restores the request that `job` was submitted with, if it owes one (owes_request()). Needs
/// LockKind::kAct. Returns false if it owes none or Slurm rejects the request (the log says why).
bool restore_request(job_record_t& job);

/// A running job that was submitted with its present request will ask for it again after a requeue,
/// whatever its parsed request says then: a growth raises that. Does nothing if it keeps a request
/// already. Needs LockKind::kAct.
void keep_request(job_record_t& job);

/// What a look at the jobs finds to repair: restore_request(), the wait of a resized job for
/// slurmdbd where there is none (waits_without_slurmdbd()), and keeps_resize_time(). Needs
/// LockKind::kAct. Returns whether a request was restored.
bool repair_record(job_record_t& job);

/// Calls repair_record() for each of these jobs that still exists.
void repair_records(const std::vector<JobId>& jobs);

}  // namespace rubato

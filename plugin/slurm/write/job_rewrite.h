// SPDX-License-Identifier: GPL-2.0-or-later
// Rewriting what a pending job asks for, and putting it back.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/core/job.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// While it lives, a pending job asks for another size. Slurm parses the new request itself
/// (gres_job_state_validate, as at submit), the counts that limits are tested with follow it, and
/// it is read back before anybody else sees it. Taken back to the last pointer unless keep() is
/// called. All of it in one section of LockKind::kAct.
class RewrittenRequest {
 public:
  /// `planned` is at_size() of `asked`, a job of the snapshot in `part`. The error says what is in
  /// the way; the record is then as it was. `put_back` false leaves that out, for a test.
  [[nodiscard]] static Result<std::unique_ptr<RewrittenRequest>> make(job_record_t& job,
                                                                      part_record_t& part,
                                                                      const Job& asked,
                                                                      const Job& planned,
                                                                      bool put_back = true);
  ~RewrittenRequest();
  RewrittenRequest(const RewrittenRequest&) = delete;
  RewrittenRequest& operator=(const RewrittenRequest&) = delete;

  /// The job started. What it was submitted with goes into its environment, where
  /// restore_request() finds it; with it go the variables of sbatch that say a size. The rest of an
  /// array, which slurmctld split off by copying the request, gets its own back.
  void keep();

 private:
  struct Saved;

  RewrittenRequest(job_record_t& job, part_record_t& part, bool put_back);
  [[nodiscard]] Result<void> write(const Job& asked, const Job& planned);
  void put_back();
  void restore_rest();

  job_record_t& job_;
  part_record_t& part_;
  bool put_back_;
  bool whole_array_;              // not yet split into tasks
  std::unique_ptr<Saved> saved_;  // null: kept
};

/// Restores the request that `job` was submitted with, if it owes one (owes_request()). Needs
/// LockKind::kAct. Returns false if it owes none or Slurm rejects the request (the log says why).
bool restore_request(job_record_t& job);

/// Calls restore_request() for each of these jobs that still exists.
void restore_requests(const std::vector<JobId>& jobs);

}  // namespace rubato

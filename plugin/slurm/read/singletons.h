// SPDX-License-Identifier: GPL-2.0-or-later
// Which jobs surely wait for a singleton dependency, from one pass over all jobs.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/core/job.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// slurmctld's own test searches the whole job list for each job with `--dependency=singleton`
/// (job_scheduler.c, _find_singleton_job). Needs slurmctld's job read lock while it exists.
class Singletons {
 public:
  /// `pending` and `running` jobs; jobs that are left out cost a test, no more.
  Singletons(const std::vector<job_record_t*>& pending, const std::vector<job_record_t*>& running);

  /// True if the job has a singleton dependency and a job that it waits for exists.
  [[nodiscard]] bool surely_waits(const job_record_t& job) const;

 private:
  struct Holders {
    bool running = false;
    JobId first_pending = NO_VAL;
  };
  using Names = std::unordered_map<std::string_view, Holders>;  // by job name

  std::unordered_map<std::uint32_t, Names> names_;  // by user, of users with such jobs
};

}  // namespace rubato

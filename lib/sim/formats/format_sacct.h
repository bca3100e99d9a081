// SPDX-License-Identifier: GPL-2.0-or-later
// A site's own history: what `sacct --parsable2` prints.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// What a history holds besides the jobs that can be played.
struct SacctHistory {
  JobList jobs;                 ///< arrivals count from the first; `work` is the run time in s
  std::vector<JobResult> real;  ///< the result of each
  int steps = 0;                ///< left out: steps of jobs,
  int without_gpus = 0;         ///< jobs without GPUs,
  int unfinished = 0;           ///< jobs that never started, or have not ended,
  int empty = 0;                ///< jobs that ended when they began,
  int odd_times = 0;            ///< jobs that ended before they began, or began before they came
  int twice = 0;                ///< repeated identical rows; counted once
  int requeued = 0;             ///< later runs of a job (sacct --duplicates), each a job of its own
  int het = 0;                  ///< components of heterogeneous jobs: jobs of their own
  int other_type = 0;           ///< jobs on types of GPU that the cluster does not have
  int too_wide = 0;             ///< jobs with more cores or memory than a node of the cluster has
  /// Line and column of each job's AllocTRES.
  std::vector<std::pair<std::size_t, std::size_t>> places;
};

/// Columns JobID, Submit, Start, End and AllocTRES; Eligible, Timelimit, Account and JobName where
/// they are there; all others are passed over. Times are as Slurm prints them (2026-11-21T12:30:00)
/// or seconds since 1970; JobName may hold '|' where it is the last one. A job arrives when it
/// became eligible, else when it was submitted. Jobs go by arrival, then id, then start: the order
/// of rows does not matter. Errors begin FILE:LINE:COLUMN.
[[nodiscard]] Result<SacctHistory> parse_sacct(std::string_view text, const std::string& name);

/// A job keeps its run time, and the type of its GPUs where AllocTRES names one of the cluster's;
/// its CPUs and memory count where the cluster's shape says cores and memory. Fails where the
/// cluster can hold none of the jobs.
[[nodiscard]] Result<Suite> read_sacct_suite(const std::string& file, const std::string& profiles,
                                             const ClusterShape& cluster);

/// What really happened to the jobs of such a suite.
[[nodiscard]] const SacctHistory* history_of(const Suite& suite);

}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
// A site's own job history: the output of `sacct --parsable2`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// The jobs of a history, and counts of the rows left out.
struct SacctHistory {
  /// First those that run when the history begins, then by arrival. Times count from its begin;
  /// `work` is the run time in s.
  JobList jobs;
  std::vector<JobResult> real;  ///< the recorded result of each job
  double begin = 0;             ///< of the history, s since 1970 as printed
  double end = 0;               ///< of the history
  bool open = false;         ///< some jobs have not ended: the history stops while they run or wait
  int running_at_begin = 0;  ///< no decision about them is in the history
  int waiting_at_begin = 0;
  int running_at_end = 0;
  int waiting_at_end = 0;
  int steps = 0;         ///< left out: steps of jobs,
  int without_gpus = 0;  ///< jobs without GPUs,
  int unfinished = 0;    ///< jobs that never started,
  int empty = 0;         ///< jobs with End equal to Start
  int odd_times = 0;     ///< jobs with End before Start, or Start before Submit
  int twice = 0;         ///< repeated identical rows; counted once
  int requeued = 0;      ///< later runs of a job (sacct --duplicates); each counts as a job
  int het = 0;           ///< components of heterogeneous jobs; each counts as a job
  int other_type = 0;    ///< jobs on GPU types that the cluster lacks
  int too_wide = 0;      ///< jobs with more cores or memory than a node of the cluster
  /// Line and column of each job's AllocTRES.
  std::vector<std::pair<std::size_t, std::size_t>> places;
};

/// Reads columns JobID, Submit, Start, End and AllocTRES; optional ones are Eligible, Timelimit,
/// Account, JobName and ReqTRES. Other columns are ignored. Times are in Slurm's format
/// (2026-11-21T12:30:00) or seconds since 1970. JobName may contain '|' if it is the last column. A
/// job arrives at its Eligible time, else at Submit. Jobs are sorted by arrival, id and start,
/// whatever the order of rows. Errors begin with FILE:LINE:COLUMN.
///
/// `sacct -S` prints the jobs that were not over at that time, so the history begins at the first
/// end of a job. A job that started before runs when the history begins. If that is more than a
/// tenth of all jobs, the history is short or whole, and it begins with the first arrival. A job
/// without an end runs, or waits if it has no start either, when the history ends. Its run time is
/// its time limit; without one, twice the time it ran so far, or the median run time. Jobs that
/// wait then need ReqTRES.
[[nodiscard]] Result<SacctHistory> parse_sacct(std::string_view text, const std::string& name);

/// A job keeps its run time and its number of nodes. It keeps its GPU type if AllocTRES names one
/// of the cluster's. Its CPUs and memory count if the cluster's shape has cores and memory.
/// `backfill` plays by the rules of slurmctld (policy_backfill.cc). Fails if the cluster can hold
/// none of the jobs.
[[nodiscard]] Result<Suite> read_sacct_suite(const std::string& file, const std::string& profiles,
                                             const ClusterShape& cluster);

/// The recorded results of the jobs of such a suite.
[[nodiscard]] const SacctHistory* history_of(const Suite& suite);

}  // namespace rubato::sim

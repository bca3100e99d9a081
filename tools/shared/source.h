// SPDX-License-Identifier: GPL-2.0-or-later
// Where the commands of users take what they show: Slurm's own commands for jobs, so that
// PrivateData and clusters are Slurm's, and the files that Rubato publishes for the rest.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "tools/shared/job_match.h"
#include "tools/shared/site.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {

/// The published files stand in `publish_dir` (--publish-dir), $RUBATO_PUBLISH_DIR, PublishDir= of
/// the rubato.conf beside slurm.conf, or rubato/publish under StateSaveLocation. Where there is no
/// slurm.conf, scontrol is asked for it (at most 5 s). Fails only if none of this is known.
[[nodiscard]] Result<Site> find_source(const std::string& publish_dir);

/// A job as squeue shows it to this user.
struct SqueueJob {
  std::string label;
  std::string name;
  std::string user;
  std::string partition;
  std::string state;
  std::string reason;
  std::string node_list;
  std::string start;  ///< as squeue prints it; "N/A" if it is not known
  std::string time_used;
  std::string time_limit;
  JobFacts facts;
  std::string exit_code;  ///< as squeue prints it
};

/// The jobs that `selector` means; none if squeue shows this user none.
[[nodiscard]] Result<std::vector<SqueueJob>> ask_for_job(const JobSelector& selector);
/// All tasks of an array, each once; those that ended for as long as slurmctld has them.
[[nodiscard]] Result<std::vector<SqueueJob>> ask_for_tasks(JobId array);

}  // namespace rubato::tools

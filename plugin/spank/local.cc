// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstdlib>

#include "plugin/spank/carried.h"
#include "plugin/spank/client.h"
#include "plugin/spank/contexts.h"

namespace rubato {
namespace {

std::vector<std::string> variables;  // one set for all components of a heterogeneous job

/// Id of the job in whose allocation srun runs; null: srun requests a new job. srun itself reads
/// the same two names.
const char* enclosing_job() {
  const char* id = getenv("SLURM_JOB_ID");
  return id != nullptr ? id : getenv("SLURM_JOBID");
}

void carry_decisions() {
  for (const char* name : kTaskVariables) {
    const std::string carried = carried_name(name);
    if (const char* value = getenv(name)) {
      setenv(carried.c_str(), value, 1);
    } else {
      unsetenv(carried.c_str());
    }
  }
}

}  // namespace

void local_init(spank_t spank) {
  forget_enclosing_job();
  // The tasks of a step keep the variables: the script may have set them for jobs that they submit.
  if (enclosing_job() == nullptr) {
    forget_enclosing_start();
    variables = take_variables();
  }
  register_options(spank);
}

void local_options_done(spank_t spank) {
  const char* job = enclosing_job();
  if (job != nullptr) carry_decisions();
  if (job == nullptr) {
    hand_over(spank, given_options(), variables);
  } else if (!given_options().empty()) {
    slurm_spank_log(
        "rubato: --%s does not count here: srun starts a step, and the hints are those "
        "of job %s",
        given_options().front().first.c_str(), job);
  }
  forget_options();
}

}  // namespace rubato

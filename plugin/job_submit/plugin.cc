// SPDX-License-Identifier: GPL-2.0-or-later
// Stands in front of job_submit/logging: notes in this thread that a submit asks for an answer at
// once (salloc -I, srun -I), so that the gate lets its placement test through.
#include "plugin/pair/exported.h"
#include "plugin/pair/guard.h"
#include "plugin/pair/pair.h"
#include "plugin/slurm/slurm_headers.h"

#include <stdexcept>

extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Rubato in front of job_submit/logging";
const char plugin_type[] = "job_submit/logging";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace rubato {

namespace {

Pair* pair() {
  static Pair* const found = find_pair(plugin_type);
  return found;
}

int note_submit(const job_desc_msg_t& job, uint32_t uid) {
  if (pair() == nullptr) return SLURM_SUCCESS;
  const auto config = pair()->config();
  if (config != nullptr && config->test_inject.contains("throw-submit"))
    throw std::runtime_error("injected at submit");
  // The job will belong to user_id; root may submit for others.
  const bool own = job.user_id == NO_VAL;
  pair()->note_submit(own ? uid : job.user_id, job.immediate != 0);
  return SLURM_SUCCESS;
}

Entry submit_entry{"job_submit"};

}  // namespace

}  // namespace rubato

extern "C" {

RUBATO_EXPORTED int init() { return SLURM_SUCCESS; }

RUBATO_EXPORTED void fini() {}

RUBATO_EXPORTED int job_submit(job_desc_msg_t* job, uint32_t uid, char** /*error*/) {
  return rubato::guard(
      rubato::submit_entry, [&] { return rubato::note_submit(*job, uid); },
      [] { return SLURM_SUCCESS; });
}

RUBATO_EXPORTED int job_modify(job_desc_msg_t* /*update*/, job_record_t* /*job*/,
                               uint32_t /*uid*/) {
  return SLURM_SUCCESS;
}

}  // extern "C"

// SPDX-License-Identifier: GPL-2.0-or-later
// The entry points of job_submit/logging: the symbols that Slurm looks up.
#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/common/pair.h"
#include "plugin/job_submit/hook.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/slurm_headers.h"
#include "plugin/slurm/write/set_text.h"

// Slurm looks these up by name.
// NOLINTBEGIN(readability-identifier-naming,readability-redundant-declaration)
extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Rubato in front of job_submit/logging";
const char plugin_type[] = "job_submit/logging";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}
// NOLINTEND(readability-identifier-naming,readability-redundant-declaration)

namespace rubato {

namespace {

Pair* pair() {
  static Pair* const found = find_pair(plugin_type);
  return found;
}

int submit(job_desc_msg_t& job, uint32_t uid, char** error) {
  if (pair() == nullptr) return SLURM_SUCCESS;
  Submission submission(job);
  std::string text;
  const int code = on_submit(*pair(), submission, uid, text);
  if (!text.empty()) set_text(*error, text);
  return code;
}

int modify(job_desc_msg_t& update, job_record_t& job, uint32_t uid, char** error) {
  if (pair() == nullptr) return SLURM_SUCCESS;
  JobUpdate job_update(update, job, uid);
  std::string text;
  const int code = on_modify(*pair(), job_update, text);
  if (error != nullptr && !text.empty()) set_text(*error, text);
  return code;
}

}  // namespace

}  // namespace rubato

extern "C" {

RUBATO_EXPORTED int init() { return SLURM_SUCCESS; }

RUBATO_EXPORTED void fini() {}

RUBATO_EXPORTED int job_submit(job_desc_msg_t* job, uint32_t uid, char** error) {
  static rubato::EntryPoint entry{"job_submit"};
  return rubato::guard(
      entry, [&] { return rubato::submit(*job, uid, error); }, [] { return SLURM_SUCCESS; });
}

RUBATO_EXPORTED int job_modify(job_desc_msg_t* update, job_record_t* job,
                               uint32_t uid RUBATO_JOB_MODIFY_ERROR) {
  static rubato::EntryPoint entry{"job_modify"};
  return rubato::guard(
      entry, [&] { return rubato::modify(*update, *job, uid, RUBATO_JOB_MODIFY_ERROR_ARGUMENT); },
      [&] { return rubato::answer_without_memory(update->comment); });
}

}  // extern "C"

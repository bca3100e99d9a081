// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/kept_request.h"

#include <cstring>

#include "lib/hints/task_variables.h"

namespace rubato {

std::optional<RequestFields> kept_request(const job_record_t& job) {
  const job_details_t& details = *job.details;
  const std::size_t length = std::strlen(kKeptRequest);
  for (std::uint32_t i = 0; i < details.env_cnt; ++i) {
    const char* entry = details.env_sup[i];
    if (entry != nullptr && std::strncmp(entry, kKeptRequest, length) == 0 && entry[length] == '=')
      return request_fields_from(entry + length + 1);
  }
  return std::nullopt;
}

const char* why_size_is_bound(const job_record_t& job) {
  const job_details_t& details = *job.details;
  if (job.batch_flag == 0) return "an interactive job starts with what it asks for";
  if (job.tres_req_cnt == nullptr) return "slurmctld counts no TRES for it";
  if (details.crontab_entry != nullptr) return "a job of scrontab cannot be updated";
  if ((details.task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY)
    return "--distribution=arbitrary names its nodes";
  if (details.req_node_bitmap != nullptr) return "--nodelist names its nodes";
  if (job.tres_per_socket != nullptr) return "it asks for GPUs of a socket";
  const multi_core_data_t* cores = details.mc_ptr;
  if (cores != nullptr && cores->ntasks_per_socket != INFINITE16 && cores->ntasks_per_socket != 0)
    return "--ntasks-per-socket";
  if (details.ntasks_per_tres != 0 && details.ntasks_per_tres != NO_VAL16)
    return "--ntasks-per-gpu";
  return nullptr;
}

bool owes_request(const job_record_t& job) {
  const job_record_t* const record = &job;  // the macros take a pointer
  return IS_JOB_PENDING(record) && !IS_JOB_COMPLETING(record) && job.details != nullptr &&
         job.details->env_cnt != 0 && kept_request(job).has_value();
}

}  // namespace rubato

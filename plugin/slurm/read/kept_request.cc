// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/kept_request.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "lib/hints/facts.h"
#include "lib/hints/task_variables.h"

namespace rubato {

namespace {

char* text_or_null(std::string& text) { return text.empty() ? nullptr : text.data(); }

std::uint64_t gpus_of(const std::string& tres) {
  return static_cast<std::uint64_t>(gpus_in(tres).count);
}

// The number in "gres:gpu:4000", MiB.
std::uint64_t memory_of(std::string_view tres) {
  const std::size_t at = tres.find_last_of(":=");
  std::uint64_t memory = 0;
  if (at != std::string_view::npos)
    std::from_chars(tres.data() + at + 1, tres.data() + tres.size(), memory);
  return memory;
}

}  // namespace

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

SubmittedRecord::SubmittedRecord(const job_record_t& now, const gres_job_state_t* gpu_now,
                                 RequestFields& fields)
    : job(now), details(*now.details), gpu(gpu_now != nullptr ? *gpu_now : gres_job_state_t{}) {
  job.details = &details;
  set_numbers(job, fields);
  job.tres_per_job = text_or_null(fields.per_job);
  job.tres_per_node = text_or_null(fields.per_node);
  job.tres_per_task = text_or_null(fields.per_task);
  job.mem_per_tres = text_or_null(fields.memory_per_gpu);
  gpu.gres_per_job = gpus_of(fields.per_job);
  gpu.gres_per_node = gpus_of(fields.per_node);
  gpu.gres_per_task = gpus_of(fields.per_task);
  gpu.mem_per_gres = memory_of(fields.memory_per_gpu);
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

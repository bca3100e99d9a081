// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/job_view.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <initializer_list>

#include "lib/hints/facts.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

constexpr Seconds kMinute = 60;

int has_name(void* state, void* name) {
  const int differs =
      xstrcmp(static_cast<gres_state_t*>(state)->gres_name, static_cast<const char*>(name));
  return differs == 0 ? 1 : 0;
}

// Uses no iterator, which would be allocated and freed for each job of each look.
gres_state_t* find_gres(list_t* gres_list, const char* name) {
  if (gres_list == nullptr) return nullptr;
  return static_cast<gres_state_t*>(
      list_find_first_ro(gres_list, has_name, const_cast<char*>(name)));
}

// NVIDIA names the slices of a GPU by compute share and memory: 1g.5gb, 3g.20gb.
bool looks_like_mig(const char* type) {
  if (type == nullptr || std::isdigit(static_cast<unsigned char>(*type)) == 0) return false;
  return std::strstr(type, "g.") != nullptr && std::strstr(type, "gb") != nullptr;
}

int entries_of(list_t* gres_list, const char* name) {
  int n = 0;
  ListWalk<gres_state_t> i(gres_list);
  while (auto* state = i.next())
    if (xstrcmp(state->gres_name, name) == 0) ++n;
  return n;
}

template <typename T>
int to_int(T value) {
  return value >= static_cast<T>(NO_VAL16) ? 0 : static_cast<int>(value);
}

// The type in "gres:gpu:a100:2", "gpu:a100:2", "gres:gpu:2": the word between gpu: and the count.
std::string_view type_in(const char* tres) {
  if (tres == nullptr) return {};
  const char* at = std::strstr(tres, "gpu:");
  if (at == nullptr) return {};
  at += 4;
  const std::size_t length = std::strcspn(at, ":,=");
  const std::string_view word(at, length);
  if (word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
    // A word before another field is the type, even if it begins with a digit (2080ti); else it is
    // the count.
    if (at[length] != ':' && at[length] != '=') return {};
  }
  return word;
}

std::string_view requested_type(const job_record_t& job) {
  for (const char* tres :
       {job.tres_per_job, job.tres_per_node, job.tres_per_socket, job.tres_per_task}) {
    const std::string_view type = type_in(tres);
    if (!type.empty()) return type;
  }
  return {};
}

void set_memory(const job_record_t& job, const part_record_t& part, const gres_job_state_t* gpu,
                MiB whole_memory, Request& request) {
  if (gpu != nullptr) {
    const std::uint64_t per_gpu =
        gpu->mem_per_gres != 0 ? gpu->mem_per_gres : gpu->def_mem_per_gres;
    if (per_gpu != 0 && per_gpu < NO_VAL64) {
      request.memory_per_gpu = static_cast<MiB>(per_gpu);
      return;
    }
  }
  std::uint64_t memory = job.details->pn_min_memory;
  if (memory == 0) memory = part.def_mem_per_cpu;
  if (memory == 0) memory = slurm_conf.def_mem_per_cpu;
  if (memory == 0) request.memory_per_node = whole_memory;
  request.whole_memory = memory == 0 && whole_memory != 0;
  if (memory == 0 || memory == NO_VAL64) return;
  if ((memory & MEM_PER_CPU) != 0)
    request.memory_per_core = static_cast<MiB>(memory & ~MEM_PER_CPU);
  else
    request.memory_per_node = static_cast<MiB>(memory);
}

/// GPUs that a job asks for.
struct AskedGpus {
  std::uint64_t in_all = 0;
  std::uint64_t per_node = 0;
  std::uint64_t per_task = 0;
};

std::uint64_t count_in(const char* tres) {
  return tres != nullptr ? static_cast<std::uint64_t>(std::max(gpus_in(tres).count, 0)) : 0;
}

// A growth raises the counts of the parsed request of a job that runs, but not its texts.
AskedGpus asked_gpus(const job_record_t& job, const gres_job_state_t& gpu) {
  const job_record_t* const record = &job;  // for the macro
  if (IS_JOB_PENDING(record)) return {gpu.gres_per_job, gpu.gres_per_node, gpu.gres_per_task};
  return {count_in(job.tres_per_job), count_in(job.tres_per_node), count_in(job.tres_per_task)};
}

void set_gpus(const job_record_t& job, const gres_job_state_t& gpu, Request& request) {
  const auto tasks = static_cast<std::uint64_t>(std::max<std::uint32_t>(job.details->num_tasks, 1));
  const AskedGpus asked = asked_gpus(job, gpu);
  if (asked.in_all != 0)
    request.gpus = static_cast<int>(asked.in_all);
  else if (asked.per_task != 0)
    request.gpus = static_cast<int>(asked.per_task * tasks);
  if (asked.per_node != 0) request.gpus_per_node = static_cast<int>(asked.per_node);
  if (asked.per_task != 0) {
    request.gpus_per_task = static_cast<int>(asked.per_task);
    request.gpu_quantum = request.gpus_per_task;
  }
  request.gpu_type = requested_type(job);
  const int per_gpu = to_int(gpu.cpus_per_gres != 0 ? gpu.cpus_per_gres : gpu.def_cpus_per_gres);
  request.cores_per_gpu = per_gpu;
}

/// CPUs of a core of the partition's largest node (partition_mgr.c build_part_bitmap).
int threads_of(const part_record_t& part) {
  return part.max_core_cnt == 0
             ? 1
             : static_cast<int>(std::max<std::uint32_t>(part.max_cpu_cnt / part.max_core_cnt, 1));
}

/// CPUs that count per core: `threads` of the partition's cores, or as many as the job uses
/// (--hint=nomultithread, --threads-per-core, --ntasks-per-core; select/cons_common, cons_common.c
/// _allocate_sc).
int threads_used(const job_details_t& details, int threads) {
  if (threads <= 1) return 1;
  const multi_core_data_t* cores = details.mc_ptr;
  if (cores != nullptr && cores->threads_per_core != NO_VAL16 && cores->threads_per_core != 0)
    threads = std::min(threads, to_int(cores->threads_per_core));
  const bool one_task = (slurm_conf.select_type_param & CR_ONE_TASK_PER_CORE) != 0;
  int tasks = one_task ? 1 : 0;
  if (cores != nullptr && cores->ntasks_per_core != INFINITE16 && cores->ntasks_per_core != 0)
    tasks = to_int(cores->ntasks_per_core);
  if (tasks > 0) threads = std::min(threads, tasks * std::max(to_int(details.cpus_per_task), 1));
  return std::max(threads, 1);
}

Request read_request(const job_record_t& job, const part_record_t& part,
                     const gres_job_state_t* gpu, MiB whole_memory) {
  const job_details_t& details = *job.details;
  Request request;
  request.min_nodes = static_cast<int>(std::max<std::uint32_t>(details.min_nodes, 1));
  request.min_nodes = std::max(request.min_nodes, static_cast<int>(part.min_nodes));
  if (details.max_nodes != 0 && details.max_nodes < NO_VAL16)
    request.max_nodes = static_cast<int>(details.max_nodes);
  if (part.max_nodes < NO_VAL16) {
    const auto limit = static_cast<int>(part.max_nodes);
    request.max_nodes = request.max_nodes == 0 ? limit : std::min(request.max_nodes, limit);
  }
  request.threads = threads_used(details, threads_of(part));
  request.cores = static_cast<int>(std::max<std::uint32_t>(details.min_cpus, 1));
  request.cores_per_node = std::max(1, to_int(details.pn_min_cpus));
  request.fixed_nodes = details.max_nodes != 0 && details.max_nodes == details.min_nodes;
  request.tasks = to_int(details.num_tasks);
  request.tasks_per_node = to_int(details.ntasks_per_node);
  request.cores_per_task = std::max(1, to_int(details.cpus_per_task));
  request.whole_nodes =
      release::wants_whole_nodes(details) || part.max_share == 0 || details.core_spec == 0;
  if (gpu != nullptr) set_gpus(job, *gpu, request);
  set_memory(job, part, gpu, whole_memory, request);
  return request;
}

bool in_managed_group(const job_record_t& job, const Config& config) {
  if (config.managed_accounts.empty() && config.managed_qos.empty()) return true;
  return config.manages_group(job.account != nullptr ? job.account : "",
                              job.qos_ptr != nullptr ? job.qos_ptr->name : "");
}

}  // namespace

gres_job_state_t* gpu_request(list_t* gres_list) {
  gres_state_t* state = find_gres(gres_list, "gpu");
  return state == nullptr ? nullptr : static_cast<gres_job_state_t*>(state->gres_data);
}

bool names_gpu_type(const job_record_t& job) { return !requested_type(job).empty(); }

const char* why_unmanaged(const job_record_t& job, const part_record_t& part,
                          const Config& config) {
  if (!config.manages(part.name)) return "its partition is not in ManagedPartitions";
  if (!in_managed_group(job, config))
    return "its account or QOS is not in ManagedAccounts, ManagedQOS";
  const gres_job_state_t* gpu = gpu_request(job.gres_list_req);
  // The job has no GPUs now, but its next start may use them again.
  const bool on_cpus = gpu == nullptr && kept_request(job).has_value();
  if (gpu == nullptr && !on_cpus) return "it asks for no GPU";
  if (job.het_job_id != 0) return "it is part of a heterogeneous job";
  if (find_gres(job.gres_list_req, "mps") != nullptr ||
      find_gres(job.gres_list_req, "shard") != nullptr)
    return "it shares GPUs (mps or shard)";
  if (!on_cpus && entries_of(job.gres_list_req, "gpu") > 1)
    return "it asks for several GPU types at once";
  if (!on_cpus && looks_like_mig(gpu->type_name)) return "it asks for a slice of a GPU (MIG)";
  if (!on_cpus && gpu->gres_per_socket != 0) return "it asks for GPUs per socket";
  if ((part.max_share & SHARED_FORCE) != 0 && (part.max_share & ~SHARED_FORCE) > 1)
    return "its partition is gang-scheduled or oversubscribed";
  if (job.fed_details != nullptr) return "it has siblings in a federation";
  if (job.burst_buffer != nullptr) return "it uses a burst buffer";
  if (job.details->expanding_jobid != 0) return "it expands another job";
  if (job.details->min_nodes == 0 && job.details->max_nodes == 0) return "it needs no node";
  return nullptr;
}

Request request_of(const job_record_t& job, const part_record_t& part, MiB whole_memory) {
  return read_request(job, part, gpu_request(job.gres_list_req), whole_memory);
}

Request submitted_request_of(const job_record_t& job, const part_record_t& part, MiB whole_memory) {
  std::optional<RequestFields> kept = kept_request(job);
  if (!kept) return request_of(job, part, whole_memory);
  const SubmittedRecord submitted(job, gpu_request(job.gres_list_req), *kept);
  return read_request(submitted.job, part, &submitted.gpu, whole_memory);
}

MiB whole_memory_of(const part_record_t& part) {
  const bool counted = (slurm_conf.select_type_param & CR_MEMORY) != 0;
  if (!counted || part.def_mem_per_cpu != 0 || slurm_conf.def_mem_per_cpu != 0 ||
      part.node_bitmap == nullptr)
    return 0;
  MiB least = 0;
  const int64_t size = bit_size(part.node_bitmap);
  for (int64_t i = bit_ffs(part.node_bitmap); i >= 0 && i < size; ++i) {
    const node_record_t* node = bit_test(part.node_bitmap, i) ? node_record_table_ptr[i] : nullptr;
    if (node == nullptr) continue;
    const auto memory = static_cast<MiB>(node->real_memory - node->mem_spec_limit);
    least = least == 0 ? memory : std::min(least, memory);
  }
  return least;
}

Seconds time_limit_of(const job_record_t& job, const part_record_t& part) {
  std::uint32_t minutes = job.time_limit;
  if (minutes == NO_VAL) minutes = part.default_time != NO_VAL ? part.default_time : part.max_time;
  if (minutes == INFINITE || minutes == NO_VAL) return kForever;
  return static_cast<Seconds>(minutes) * kMinute;
}

bool runs_step(const job_record_t& job) {
  if (job.step_list == nullptr) return false;
  for (ListWalk<step_record_t> steps(job.step_list); const auto* step = steps.next();)
    if (step->step_id.step_id <= SLURM_MAX_NORMAL_STEP_ID) return true;
  return false;
}

std::string label_of(const job_record_t& job) {
  if (job.array_job_id == 0) return std::to_string(job.job_id);
  if (job.array_task_id != NO_VAL) return fmt::format("{}_{}", job.array_job_id, job.array_task_id);
  const char* tasks = job.array_recs != nullptr && job.array_recs->task_id_str != nullptr
                          ? job.array_recs->task_id_str
                          : "*";
  return fmt::format("{}_[{}]", job.array_job_id, tasks);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The request of a pending job, as fields of its record. Calls no function of slurmctld.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/job.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// The fields of a job record that change with its size; a string is empty if the record has none.
/// `orig_` fields are those that slurmctld saves (job_mgr.c, _dump_job_details).
struct RequestFields {
  std::string per_job;         ///< tres_per_job, of --gpus
  std::string per_node;        ///< tres_per_node, of --gres and --gpus-per-node
  std::string per_task;        ///< tres_per_task
  std::string memory_per_gpu;  ///< mem_per_tres
  std::uint32_t min_nodes = 0;
  std::uint32_t max_nodes = 0;
  std::uint32_t tasks = 0;
  std::uint32_t min_cpus = 0;
  std::uint32_t orig_min_cpus = 0;
  std::uint32_t max_cpus = 0;
  std::uint32_t orig_max_cpus = 0;
  std::uint32_t node_cpus = 0;  ///< pn_min_cpus
  std::uint32_t orig_node_cpus = 0;
  std::uint32_t task_cpus = 0;  ///< cpus_per_task
  std::uint32_t orig_task_cpus = 0;
  std::uint32_t tasks_per_node = 0;
  std::uint64_t memory = 0;  ///< pn_min_memory
  std::uint64_t orig_memory = 0;
  bool memory_said = false;  ///< JOB_MEM_SET of bit_flags

  bool operator==(const RequestFields&) const = default;
};

[[nodiscard]] RequestFields request_fields(const job_record_t& job);

/// Writes the numbers of `fields`. The texts, which need Slurm's memory, stay.
void set_numbers(job_record_t& job, const RequestFields& fields) noexcept;

/// True if request_fields(job) equals `fields`. Allocates nothing.
[[nodiscard]] bool has_request(const job_record_t& job, const RequestFields& fields) noexcept;

/// Changes `fields` of a job that requests `asked`, so that it requests `planned` (at_size()).
/// Fields equal in both stay unchanged, including unset ones.
[[nodiscard]] RequestFields fields_at(const RequestFields& fields, const Request& asked,
                                      const Request& planned);

/// Converts to one line and back; nullopt for a text of another version.
[[nodiscard]] std::string to_text(const RequestFields& fields);
[[nodiscard]] std::optional<RequestFields> request_fields_from(std::string_view text);

/// Variables that sbatch wrote for a job with `fields` and srun reads, with their values for
/// `changed`. An empty value unsets the option.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> sbatch_variables(
    const RequestFields& fields, const RequestFields& changed);

/// True for a variable that sbatch_variables() names.
[[nodiscard]] bool is_sbatch_variable(std::string_view name);

}  // namespace rubato

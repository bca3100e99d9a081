// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_variables.h"

#include <fmt/format.h>

#include "lib/hints/task_variables.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

// The array and its strings come from xmalloc; slurmctld frees them with the job's details
// (job_mgr.c _list_delete_job). The array may be longer than env_cnt.
void drop_variables(job_record& job, bool (*drop)(std::string_view name)) noexcept {
  job_details_t& details = *job.details;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < details.env_cnt; ++i) {
    const std::string_view entry = details.env_sup[i] != nullptr ? details.env_sup[i] : "";
    if (drop(entry.substr(0, entry.find('='))))
      xfree(details.env_sup[i]);
    else
      details.env_sup[kept++] = details.env_sup[i];
  }
  for (std::uint32_t i = kept; i < details.env_cnt; ++i) details.env_sup[i] = nullptr;
  details.env_cnt = kept;
}

std::vector<std::string> entries_of(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

void add_entries(job_record& job, const std::vector<std::string>& entries) noexcept {
  job_details_t& details = *job.details;
  xrecalloc(details.env_sup, details.env_cnt + entries.size() + 1, sizeof(char*));
  for (const std::string& entry : entries)
    details.env_sup[details.env_cnt++] = xstrdup(entry.c_str());
}

void clear_job_env(job_record& job) noexcept {
  if (job.details == nullptr) return;
  drop_variables(job, [](std::string_view name) { return is_task_variable(name); });
}

}  // namespace rubato

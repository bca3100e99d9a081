// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_env.h"

#include "lib/hints/task_variables.h"
#include "lib/json/task_env.h"

namespace rubato {

namespace {

bool is_ours(const char* entry) {
  const std::string_view text = entry != nullptr ? std::string_view(entry) : std::string_view();
  return is_task_variable(text.substr(0, text.find('=')));
}

}  // namespace

HeldGpus held_gpus(const job_record_t& record) {
  NodeShare all;
  if (record.gres_list_alloc == nullptr) return {};
  ListIterator i = list_iterator_create(record.gres_list_alloc);
  while (auto* state = static_cast<gres_state_t*>(list_next(i))) {
    if (xstrcmp(state->gres_name, "gpu") != 0) continue;
    const auto* gpu = static_cast<gres_job_state_t*>(state->gres_data);
    if (gpu->gres_cnt_node_alloc == nullptr) continue;
    GpuCount count;
    count.type = gpu->type_name != nullptr ? gpu->type_name : "";
    for (std::uint32_t n = 0; n < gpu->node_cnt; ++n)
      if (gpu->gres_cnt_node_alloc[n] < NO_CONSUME_VAL64)
        count.count += static_cast<int>(gpu->gres_cnt_node_alloc[n]);
    all.gpus.push_back(std::move(count));
  }
  list_iterator_destroy(i);
  return held_gpus(std::vector<NodeShare>{std::move(all)});
}

// Entries are strings of xmalloc in an array of xmalloc, freed by slurmctld with the job's details
// (job_mgr.c _list_delete_job); the array may be longer than env_cnt says.
void clear_job_env(job_record_t& record) {
  struct job_details& details = *record.details;
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < details.env_cnt; ++i) {
    if (is_ours(details.env_sup[i]))
      xfree(details.env_sup[i]);
    else
      details.env_sup[kept++] = details.env_sup[i];
  }
  for (std::uint32_t i = kept; i < details.env_cnt; ++i) details.env_sup[i] = nullptr;
  details.env_cnt = kept;
}

void set_job_env(job_record_t& record, const Job& job, const ChosenRun& run) {
  clear_job_env(record);
  const TaskEnv env = task_env(job, held_gpus(record), run);
  struct job_details& details = *record.details;
  xrecalloc(details.env_sup, details.env_cnt + env.size() + 1, sizeof(char*));
  for (const auto& [name, value] : env)
    details.env_sup[details.env_cnt++] = xstrdup((name + "=" + value).c_str());
}

}  // namespace rubato

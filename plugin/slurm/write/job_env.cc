// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_env.h"

#include "lib/json/task_env.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/write/job_variables.h"

namespace rubato {

HeldGpus held_gpus(const job_record_t& record) {
  NodeShare all;
  if (record.gres_list_alloc == nullptr) return {};
  ListWalk<gres_state_t> i(record.gres_list_alloc);
  while (auto* state = i.next()) {
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
  return held_gpus(std::vector<NodeShare>{std::move(all)});
}

void set_job_env(job_record_t& record, const Job& job, const ChosenRun& run) {
  const std::vector<std::string> entries = entries_of(task_env(job, held_gpus(record), run));
  clear_job_env(record);
  add_entries(record, entries);
}

}  // namespace rubato

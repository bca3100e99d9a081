// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_env.h"

#include <algorithm>
#include <map>

#include "lib/json/task_env.h"
#include "plugin/slurm/release/lists.h"
#include "plugin/slurm/write/job_variables.h"

namespace rubato {

HeldGpus held_gpus(const job_record_t& record) {
  if (record.gres_list_alloc == nullptr) return {};
  std::map<std::uint32_t, NodeShare> nodes;  // by their number in the job
  ListWalk<gres_state_t> i(record.gres_list_alloc);
  while (auto* state = i.next()) {
    if (xstrcmp(state->gres_name, "gpu") != 0) continue;
    const auto* gpu = static_cast<gres_job_state_t*>(state->gres_data);
    if (gpu->gres_cnt_node_alloc == nullptr) continue;
    const std::string type = gpu->type_name != nullptr ? gpu->type_name : "";
    for (std::uint32_t n = 0; n < gpu->node_cnt; ++n) {
      const std::uint64_t count = gpu->gres_cnt_node_alloc[n];
      if (count > 0 && count < NO_CONSUME_VAL64)
        nodes[n].gpus.push_back({type, static_cast<int>(count)});
    }
  }
  std::vector<NodeShare> shares;
  for (auto& [number, share] : nodes) {
    std::ranges::sort(share.gpus, {}, &GpuCount::type);
    shares.push_back(std::move(share));
  }
  return held_gpus(shares);
}

void set_job_env(job_record_t& record, const Job& job, const ChosenRun& run) {
  const std::vector<std::string> entries = entries_of(task_env(job, held_gpus(record), run));
  clear_job_env(record);
  add_entries(record, entries);
}

}  // namespace rubato

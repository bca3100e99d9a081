// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/gres_arrays.h"

#include "plugin/slurm/release/lists.h"

namespace rubato {

const gres_node_state_t* gres_of_node(const node_record_t& node, std::uint32_t plugin) noexcept {
  if (node.gres_list == nullptr) return nullptr;
  for (ListWalk<gres_state_t> all(node.gres_list); auto* entry = all.next();)
    if (entry->plugin_id == plugin) return static_cast<gres_node_state_t*>(entry->gres_data);
  return nullptr;
}

bool has_shared_gres(list_t* gres) {
  if (gres == nullptr) return false;
  bool shared = false;
  for (ListWalk<gres_state_t> entries(gres); auto* entry = entries.next();)
    shared = shared || gres_id_shared(entry->config_flags);
  return shared;
}

bool holds_nodes(const job_record_t& job) {
  const job_record_t* const record = &job;  // for the macros
  return (IS_JOB_RUNNING(record) || IS_JOB_SUSPENDED(record)) && job.job_resrcs != nullptr &&
         job.job_resrcs->node_bitmap != nullptr;
}

bool is_allocated_for(const gres_state_t& allocated, const gres_state_t& request) noexcept {
  const auto& asked = *static_cast<gres_job_state_t*>(request.gres_data);
  const auto& got = *static_cast<gres_job_state_t*>(allocated.gres_data);
  const bool typed = asked.type_name != nullptr && asked.type_name[0] != '\0';
  return allocated.plugin_id == request.plugin_id && (!typed || got.type_id == asked.type_id);
}

bool has_arrays_for(const gres_state_t& request, const job_record_t& job) noexcept {
  const auto& asked = *static_cast<gres_job_state_t*>(request.gres_data);
  if (asked.node_cnt == 0 || asked.total_gres == NO_CONSUME_VAL64 ||
      gres_id_shared(request.config_flags))
    return false;
  for (ListWalk<gres_state_t> all(job.gres_list_alloc); auto* other = all.next();) {
    if (!is_allocated_for(*other, request)) continue;
    const auto& got = *static_cast<gres_job_state_t*>(other->gres_data);
    if (got.node_cnt != job.job_resrcs->nhosts || got.total_gres == NO_CONSUME_VAL64) return false;
  }
  return true;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/restarted_jobs.h"

#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

bool records_fit() noexcept {
  ListWalk<job_record_t> jobs(job_list);
  const job_record_t* const first = jobs.next();
  return first != nullptr && job_record_fits(*first);
}

void repair_batch_host(job_record_t& job) noexcept {
  if (job.batch_flag == 0 || job.step_list == nullptr) return;
  for (ListWalk<step_record_t> steps(job.step_list); const auto* step = steps.next();) {
    if (step->step_id.step_id != SLURM_BATCH_SCRIPT || step->step_layout == nullptr) continue;
    const char* const node = step->step_layout->node_list;
    if (node == nullptr || xstrcmp(node, job.batch_host) == 0) continue;
    if (find_node_record(const_cast<char*>(node)) == nullptr) continue;
    xfree(job.batch_host);
    job.batch_host = xstrdup(node);
  }
}

// Calls each(node, number of the node in the arrays) for the nodes of a job.
template <typename Each>
void each_node(const job_record_t& job, Each each) noexcept {
  std::uint32_t at = 0;
  for (int i = 0; i < bit_size(job.job_resrcs->node_bitmap); ++i)
    if (bit_test(job.job_resrcs->node_bitmap, i)) each(i, at++);
}

// Calls each(entry, state) for the GRES that a job holds, shards and MPS left out.
template <typename Each>
void each_held(const job_record_t& job, Each each) noexcept {
  if (job.gres_list_alloc == nullptr) return;
  for (ListWalk<gres_state_t> all(job.gres_list_alloc); const auto* entry = all.next();) {
    const auto& held = *static_cast<gres_job_state_t*>(entry->gres_data);
    if (!gres_id_shared(entry->config_flags) && held.gres_cnt_node_alloc != nullptr)
      each(*entry, held);
  }
}

// On these nodes jobs hold GRES without a type, so that their types cannot be told.
void mark_untyped(const job_record_t& job, bitstr_t* untyped) noexcept {
  each_held(job, [&](const gres_state_t&, const gres_job_state_t& held) {
    if (held.type_id != 0) return;
    each_node(job, [&](int node, std::uint32_t at) {
      if (at < held.node_cnt && held.gres_cnt_node_alloc[at] != 0) bit_set(untyped, node);
    });
  });
}

template <typename Each>
void each_type_count(int node, Each each) noexcept {
  if (node_record_table_ptr[node] == nullptr || node_record_table_ptr[node]->gres_list == nullptr)
    return;
  for (ListWalk<gres_state_t> all(node_record_table_ptr[node]->gres_list);
       const auto* entry = all.next();) {
    auto& state = *static_cast<gres_node_state_t*>(entry->gres_data);
    if (gres_id_shared(entry->config_flags) || state.type_cnt_alloc == nullptr) continue;
    for (int i = 0; i < state.type_cnt; ++i)
      each(entry->plugin_id, state.type_id[i], state.type_cnt_alloc[i]);
  }
}

void count_types(const job_record_t& job, bitstr_t* untyped) noexcept {
  each_held(job, [&](const gres_state_t& entry, const gres_job_state_t& held) {
    each_node(job, [&](int node, std::uint32_t at) {
      if (at >= held.node_cnt || bit_test(untyped, node)) return;
      each_type_count(node, [&](std::uint32_t plugin, std::uint32_t type, std::uint64_t& count) {
        if (plugin == entry.plugin_id && type == held.type_id)
          count += held.gres_cnt_node_alloc[at];
      });
    });
  });
}

}  // namespace

void repair_restarted_jobs() noexcept {
  if (job_list == nullptr || node_record_count == 0 || !records_fit()) return;
  bitstr_t* untyped = bit_alloc(node_record_count);
  for (ListWalk<job_record_t> jobs(job_list); auto* job = jobs.next();) {
    if (!holds_nodes(*job)) continue;
    repair_batch_host(*job);
    mark_untyped(*job, untyped);
  }
  for (int i = 0; i < node_record_count; ++i)
    if (!bit_test(untyped, i))
      each_type_count(i, [](std::uint32_t, std::uint32_t, std::uint64_t& count) { count = 0; });
  for (ListWalk<job_record_t> jobs(job_list); const auto* job = jobs.next();)
    if (holds_nodes(*job)) count_types(*job, untyped);
  FREE_NULL_BITMAP(untyped);
}

}  // namespace rubato

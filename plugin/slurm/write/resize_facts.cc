// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/resize_facts.h"

#include <algorithm>
#include <string>

#include "plugin/slurm/read/gres_arrays.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

std::vector<std::string> gpu_types_of(const job_record_t& job) {
  std::vector<std::string> types;
  if (job.gres_list_alloc == nullptr) return types;
  for (ListWalk<gres_state_t> all(job.gres_list_alloc); auto* entry = all.next();) {
    if (xstrcmp(entry->gres_name, "gpu") != 0) continue;
    const auto& held = *static_cast<gres_job_state_t*>(entry->gres_data);
    types.emplace_back(held.type_name != nullptr ? held.type_name : "");
  }
  std::ranges::sort(types);
  return types;
}

bool has_mixed_step(const job_record_t& job) {
  if (job.step_list == nullptr) return false;
  bool mixed = false;
  for (ListWalk<step_record_t> steps(job.step_list); const auto* step = steps.next();) {
    if (step->state >= JOB_RUNNING && step->gres_list_alloc != nullptr)
      mixed = mixed || list_count(step->gres_list_alloc) > 1;
  }
  return mixed;
}

}  // namespace

std::vector<int> indices_in(bitstr_t* nodes) {
  std::vector<int> found;
  if (nodes == nullptr) return found;
  for (int i = 0; i < bit_size(nodes); ++i)
    if (bit_test(nodes, i)) found.push_back(i);
  return found;
}

void end_wait_without_slurmdbd(job_record_t& job) noexcept {
  if (waits_without_slurmdbd(job)) job.db_index = 0;
}

ResizeFacts resize_facts(const job_record_t& job) {
  const job_record_t* const record = &job;  // for the macros
  ResizeFacts facts;
  facts.running = IS_JOB_RUNNING(record);
  facts.completing = IS_JOB_COMPLETING(record);
  facts.suspended = IS_JOB_SUSPENDED(record);
  facts.configuring = IS_JOB_CONFIGURING(record);
  facts.resizing = IS_JOB_RESIZING(record);
  facts.het = job.het_job_id != 0;
  facts.cron = (job.bit_flags & CRON_JOB) != 0;
  facts.stepmgr = release::has_stepmgr(job);
  facts.arbitrary = (job.details->task_dist & SLURM_DIST_STATE_BASE) == SLURM_DIST_ARBITRARY;
  facts.being_expanded = job.details->expanding_jobid != 0;
  facts.shared_gpus = has_shared_gres(job.gres_list_alloc) || has_shared_gres(job.gres_list_req);
  facts.whole_nodes = job.details->whole_node != 0;
  facts.mixed_step = has_mixed_step(job);
  facts.saving = job.db_index == NO_VAL64 && !waits_without_slurmdbd(job);
  facts.shrink_allowed = permit_job_shrink();
  facts.prolog_first = release::has_prolog_first();
  facts.nodes = indices_in(job.node_bitmap);
  if (job.job_resrcs != nullptr) facts.core_nodes = indices_in(job.job_resrcs->node_bitmap);
  if (job.batch_flag != 0) facts.batch_host = node_name_get_inx(job.batch_host);
  facts.gpu_types = gpu_types_of(job);
  return facts;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The operations of select/cons_tres. All are forwarded to the stock plugin; the gate answers
// select_p_job_test first. Some also tell the loop that resources are free again or that the node
// table changed.
#include <optional>

#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/select/admit.h"
#include "plugin/select/host.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/write/job_merge.h"
#include "plugin/slurm/write/job_variables.h"
#include "plugin/slurm/write/lost_node.h"
#include "plugin/slurm/write/restarted_jobs.h"

using rubato::gate;
using rubato::stock_ops;

extern "C" {

RUBATO_EXPORTED int select_p_job_test(job_record_t* job, bitstr_t* nodes, uint32_t min_nodes,
                                      uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
                                      list_t* preemptee_candidates, list_t** preemptees,
                                      RUBATO_JOB_TEST_EXCLUDED) {
  static rubato::EntryPoint entry{"select_p_job_test"};
  const bool ask = rubato::guard(
      entry,
      [&] {
        return rubato::admits(gate(), {*job, nodes, min_nodes, max_nodes, mode});
      },
      // A start by Rubato on nodes that it did not plan could take nodes that it reserved.
      [] { return !rubato::Gate::in_start(); });
  // All callers read a plain SLURM_ERROR as "not now" (node_scheduler.c _pick_best_nodes).
  if (!ask) return rubato::release::not_now(*job);
  return stock_ops().job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode,
                              preemptee_candidates, preemptees, RUBATO_JOB_TEST_EXCLUDED_ARGUMENTS);
}

RUBATO_EXPORTED int select_p_state_save(char* dir_name) { return stock_ops().state_save(dir_name); }

RUBATO_EXPORTED int select_p_state_restore(char* dir_name) {
  return stock_ops().state_restore(dir_name);
}

RUBATO_EXPORTED int select_p_job_init(list_t* jobs) { return stock_ops().job_init(jobs); }

RUBATO_EXPORTED int select_p_node_init() {
  gate().forget_nodes();
  return stock_ops().node_init();
}

// Called at every start. Removes variables of an earlier run; after its own starts, the loop sets
// new ones.
RUBATO_EXPORTED int select_p_job_begin(job_record_t* job) {
  rubato::clear_job_env(*job);
  return stock_ops().job_begin(job);
}

RUBATO_EXPORTED int select_p_job_ready(job_record_t* job) { return stock_ops().job_ready(job); }

// A merge with GRES is Rubato's alone: it tests what it needs before it calls update_job().
RUBATO_EXPORTED int select_p_job_expand(job_record_t* from_job, job_record_t* to_job) {
  static rubato::EntryPoint entry{"select_p_job_expand"};
  const bool merged = rubato::guard(
      entry,
      [&] {
        if (!rubato::merges_jobs(gate()) || !rubato::job_record_fits(*from_job) ||
            !rubato::can_merge(*from_job, *to_job, rubato::Gate::in_start()))
          return false;
        rubato::merge_jobs(*from_job, *to_job, stock_ops());
        return true;
      },
      [] { return false; });
  gate().wake();
  return merged ? SLURM_SUCCESS : stock_ops().job_expand(from_job, to_job);
}

RUBATO_EXPORTED int select_p_job_resized(job_record_t* job, node_record_t* node) {
  static rubato::EntryPoint entry{"select_p_job_resized"};
  const bool repairs = rubato::guard(
      entry, [&] { return rubato::repairs_resized(gate()) && rubato::job_record_fits(*job); },
      [] { return false; });
  std::optional<rubato::LostNode> lost;
  if (repairs) lost.emplace(*job, *node);
  const int rc = stock_ops().job_resized(job, node);
  if (lost) lost->repair(*job);
  gate().wake();
  return rc;
}

RUBATO_EXPORTED int select_p_job_signal(job_record_t* job, int signal) {
  return stock_ops().job_signal(job, signal);
}

RUBATO_EXPORTED int select_p_job_fini(job_record_t* job) {
  const int rc = stock_ops().job_fini(job);
  gate().wake();
  return rc;
}

RUBATO_EXPORTED int select_p_job_suspend(job_record_t* job, bool indefinite) {
  const int rc = stock_ops().job_suspend(job, indefinite);
  gate().wake();
  return rc;
}

RUBATO_EXPORTED int select_p_job_resume(job_record_t* job, bool indefinite) {
  const int rc = stock_ops().job_resume(job, indefinite);
  gate().wake();
  return rc;
}

RUBATO_EXPORTED bitstr_t* select_p_step_pick_nodes(job_record_t* job, void* jobinfo,
                                                   uint32_t node_count, bitstr_t** avail_nodes) {
  return stock_ops().step_pick_nodes(job, jobinfo, node_count, avail_nodes);
}

RUBATO_EXPORTED int select_p_step_start(step_record_t* step) {
  return stock_ops().step_start(step);
}

RUBATO_EXPORTED int select_p_step_finish(step_record_t* step, bool killing) {
  return stock_ops().step_finish(step, killing);
}

RUBATO_EXPORTED int select_p_select_nodeinfo_pack(void* nodeinfo, buf_t* buffer,
                                                  uint16_t protocol) {
  return stock_ops().select_nodeinfo_pack(nodeinfo, buffer, protocol);
}

RUBATO_EXPORTED int select_p_select_nodeinfo_unpack(void** nodeinfo, buf_t* buffer,
                                                    uint16_t protocol) {
  return stock_ops().select_nodeinfo_unpack(nodeinfo, buffer, protocol);
}

RUBATO_EXPORTED void* select_p_select_nodeinfo_alloc() {
  return stock_ops().select_nodeinfo_alloc();
}

RUBATO_EXPORTED int select_p_select_nodeinfo_free(void* nodeinfo) {
  return stock_ops().select_nodeinfo_free(nodeinfo);
}

RUBATO_EXPORTED int select_p_select_nodeinfo_set_all() {
  return stock_ops().select_nodeinfo_set_all();
}

RUBATO_EXPORTED int select_p_select_nodeinfo_set(job_record_t* job) {
  return stock_ops().select_nodeinfo_set(job);
}

RUBATO_EXPORTED int select_p_select_nodeinfo_get(void* nodeinfo, enum select_nodedata_type info,
                                                 enum node_states state, void* data) {
  return stock_ops().select_nodeinfo_get(nodeinfo, info, state, data);
}

RUBATO_EXPORTED void* select_p_select_jobinfo_alloc() { return stock_ops().select_jobinfo_alloc(); }

RUBATO_EXPORTED int select_p_select_jobinfo_free(void* jobinfo) {
  return stock_ops().select_jobinfo_free(jobinfo);
}

RUBATO_EXPORTED int select_p_select_jobinfo_set(void* jobinfo, enum select_jobdata_type type,
                                                void* data) {
  return stock_ops().select_jobinfo_set(jobinfo, type, data);
}

RUBATO_EXPORTED int select_p_select_jobinfo_get(void* jobinfo, enum select_jobdata_type type,
                                                void* data) {
  return stock_ops().select_jobinfo_get(jobinfo, type, data);
}

RUBATO_EXPORTED void* select_p_select_jobinfo_copy(void* jobinfo) {
  return stock_ops().select_jobinfo_copy(jobinfo);
}

RUBATO_EXPORTED int select_p_select_jobinfo_pack(void* jobinfo, buf_t* buffer, uint16_t protocol) {
  return stock_ops().select_jobinfo_pack(jobinfo, buffer, protocol);
}

RUBATO_EXPORTED int select_p_select_jobinfo_unpack(void** jobinfo, buf_t* buffer,
                                                   uint16_t protocol) {
  return stock_ops().select_jobinfo_unpack(jobinfo, buffer, protocol);
}

RUBATO_EXPORTED char* select_p_select_jobinfo_sprint(void* jobinfo, char* text, size_t size,
                                                     int mode) {
  return stock_ops().select_jobinfo_sprint(jobinfo, text, size, mode);
}

RUBATO_EXPORTED char* select_p_select_jobinfo_xstrdup(void* jobinfo, int mode) {
  return stock_ops().select_jobinfo_xstrdup(jobinfo, mode);
}

RUBATO_EXPORTED int select_p_get_info_from_plugin(enum select_plugindata_info info,
                                                  job_record_t* job, void* data) {
  return stock_ops().get_info_from_plugin(info, job, data);
}

RUBATO_EXPORTED int select_p_update_node_config(int index) {
  const int rc = stock_ops().update_node_config(index);
  gate().wake();
  return rc;
}

RUBATO_EXPORTED int select_p_reconfigure() {
  static rubato::EntryPoint entry{"select_p_reconfigure"};
  gate().forget_nodes();
  const int rc = stock_ops().reconfigure();
  rubato::guard(
      entry,
      [] {
        if (rubato::merges_jobs(gate())) rubato::repair_restarted_jobs();
      },
      [] {});
  return rc;
}

RUBATO_EXPORTED bitstr_t* select_p_resv_test(resv_desc_msg_t* reservation, uint32_t node_count,
                                             bitstr_t* avail_nodes, bitstr_t** cores) {
  return stock_ops().resv_test(reservation, node_count, avail_nodes, cores);
}

}  // extern "C"

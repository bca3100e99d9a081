// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/stock/select_ops.h"

namespace rubato {

namespace {

template <typename Function>
void load_one(const StockPlugin& plugin, const char* symbol, Function& into,
              std::string& first_error) {
  const Result<void*> address = plugin.find(symbol);
  if (address)
    into = reinterpret_cast<Function>(*address);
  else if (first_error.empty())
    first_error = address.error().text;
}

}  // namespace

Result<SelectOps> SelectOps::load(const StockPlugin& plugin) {
  SelectOps ops;
  std::string error;
  load_one(plugin, "init", ops.init, error);
  load_one(plugin, "fini", ops.fini, error);
  load_one(plugin, "select_p_job_test", ops.job_test, error);
  load_one(plugin, "select_p_state_save", ops.state_save, error);
  load_one(plugin, "select_p_state_restore", ops.state_restore, error);
  load_one(plugin, "select_p_job_init", ops.job_init, error);
  load_one(plugin, "select_p_node_init", ops.node_init, error);
  load_one(plugin, "select_p_job_begin", ops.job_begin, error);
  load_one(plugin, "select_p_job_ready", ops.job_ready, error);
  load_one(plugin, "select_p_job_expand", ops.job_expand, error);
  load_one(plugin, "select_p_job_resized", ops.job_resized, error);
  load_one(plugin, "select_p_job_fini", ops.job_fini, error);
  load_one(plugin, "select_p_job_suspend", ops.job_suspend, error);
  load_one(plugin, "select_p_job_resume", ops.job_resume, error);
  load_one(plugin, "select_p_step_pick_nodes", ops.step_pick_nodes, error);
  load_one(plugin, "select_p_step_start", ops.step_start, error);
  load_one(plugin, "select_p_step_finish", ops.step_finish, error);
  load_one(plugin, "select_p_select_nodeinfo_pack", ops.select_nodeinfo_pack, error);
  load_one(plugin, "select_p_select_nodeinfo_unpack", ops.select_nodeinfo_unpack, error);
  load_one(plugin, "select_p_select_nodeinfo_alloc", ops.select_nodeinfo_alloc, error);
  load_one(plugin, "select_p_select_nodeinfo_free", ops.select_nodeinfo_free, error);
  load_one(plugin, "select_p_select_nodeinfo_set_all", ops.select_nodeinfo_set_all, error);
  load_one(plugin, "select_p_select_nodeinfo_set", ops.select_nodeinfo_set, error);
  load_one(plugin, "select_p_select_nodeinfo_get", ops.select_nodeinfo_get, error);
  load_one(plugin, "select_p_select_jobinfo_alloc", ops.select_jobinfo_alloc, error);
  load_one(plugin, "select_p_select_jobinfo_free", ops.select_jobinfo_free, error);
  load_one(plugin, "select_p_select_jobinfo_set", ops.select_jobinfo_set, error);
  load_one(plugin, "select_p_select_jobinfo_get", ops.select_jobinfo_get, error);
  load_one(plugin, "select_p_select_jobinfo_copy", ops.select_jobinfo_copy, error);
  load_one(plugin, "select_p_select_jobinfo_pack", ops.select_jobinfo_pack, error);
  load_one(plugin, "select_p_select_jobinfo_unpack", ops.select_jobinfo_unpack, error);
  load_one(plugin, "select_p_get_info_from_plugin", ops.get_info_from_plugin, error);
  load_one(plugin, "select_p_reconfigure", ops.reconfigure, error);
  if (release::kOldSelectOps) {
    load_one(plugin, "select_p_job_signal", ops.job_signal, error);
    load_one(plugin, "select_p_select_jobinfo_sprint", ops.select_jobinfo_sprint, error);
    load_one(plugin, "select_p_select_jobinfo_xstrdup", ops.select_jobinfo_xstrdup, error);
    load_one(plugin, "select_p_update_node_config", ops.update_node_config, error);
    load_one(plugin, "select_p_resv_test", ops.resv_test, error);
  }
  if (!error.empty()) return fail(error);
  return ops;
}

}  // namespace rubato

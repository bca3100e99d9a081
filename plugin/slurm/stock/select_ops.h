// SPDX-License-Identifier: GPL-2.0-or-later
// The operations of a select plugin (22.05: src/common/select.c, 24.11: src/interfaces/select.c),
// as function pointers into the stock plugin.
#pragma once

#include "lib/base/error.h"
#include "plugin/common/host.h"
#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

struct SelectOps {
  int (*init)() = nullptr;
  void (*fini)() = nullptr;
  release::JobTest* job_test = nullptr;
  int (*state_save)(char*) = nullptr;
  int (*state_restore)(char*) = nullptr;
  int (*job_init)(list_t*) = nullptr;
  int (*node_init)() = nullptr;
  int (*job_begin)(job_record_t*) = nullptr;
  int (*job_ready)(job_record_t*) = nullptr;
  int (*job_expand)(job_record_t*, job_record_t*) = nullptr;
  int (*job_resized)(job_record_t*, node_record_t*) = nullptr;
  int (*job_signal)(job_record_t*, int) = nullptr;
  int (*job_fini)(job_record_t*) = nullptr;
  int (*job_suspend)(job_record_t*, bool) = nullptr;
  int (*job_resume)(job_record_t*, bool) = nullptr;
  bitstr_t* (*step_pick_nodes)(job_record_t*, void*, uint32_t, bitstr_t**) = nullptr;
  int (*step_start)(step_record_t*) = nullptr;
  int (*step_finish)(step_record_t*, bool) = nullptr;
  int (*select_nodeinfo_pack)(void*, buf_t*, uint16_t) = nullptr;
  int (*select_nodeinfo_unpack)(void**, buf_t*, uint16_t) = nullptr;
  void* (*select_nodeinfo_alloc)() = nullptr;
  int (*select_nodeinfo_free)(void*) = nullptr;
  int (*select_nodeinfo_set_all)() = nullptr;
  int (*select_nodeinfo_set)(job_record_t*) = nullptr;
  int (*select_nodeinfo_get)(void*, enum select_nodedata_type, enum node_states, void*) = nullptr;
  void* (*select_jobinfo_alloc)() = nullptr;
  int (*select_jobinfo_free)(void*) = nullptr;
  int (*select_jobinfo_set)(void*, enum select_jobdata_type, void*) = nullptr;
  int (*select_jobinfo_get)(void*, enum select_jobdata_type, void*) = nullptr;
  void* (*select_jobinfo_copy)(void*) = nullptr;
  int (*select_jobinfo_pack)(void*, buf_t*, uint16_t) = nullptr;
  int (*select_jobinfo_unpack)(void**, buf_t*, uint16_t) = nullptr;
  char* (*select_jobinfo_sprint)(void*, char*, size_t, int) = nullptr;
  char* (*select_jobinfo_xstrdup)(void*, int) = nullptr;
  int (*get_info_from_plugin)(enum select_plugindata_info, job_record_t*, void*) = nullptr;
  int (*update_node_config)(int) = nullptr;
  int (*reconfigure)() = nullptr;
  bitstr_t* (*resv_test)(resv_desc_msg_t*, uint32_t, bitstr_t*, bitstr_t**) = nullptr;

  /// All operations of `plugin`, or an error that names a missing one. Those that this release of
  /// Slurm does not have stay null.
  [[nodiscard]] static Result<SelectOps> load(const StockPlugin& plugin);
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The only file that includes Slurm's internal headers. Include it last, after every C++ header:
// Slurm's macros (info, error, List, MIN ...) break other headers. Macros that hide names are
// undefined again at the end.
//
// slurmd and slurmstepd of 22.05 also load the select plugin, without slurmctld's data. Functions
// bind lazily and are never called there. A missing variable would fail at dlopen, so each variable
// of slurmctld is weak.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

extern "C" {
#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0)
// A field of a record is named `operator`.
#define operator operator_field
#include "src/common/extra_constraints.h"
#undef operator
#include "src/interfaces/accounting_storage.h"
#include "src/interfaces/gres.h"
#include "src/interfaces/mcs.h"
#include "src/interfaces/preempt.h"
#include "src/interfaces/select.h"
#include "src/stepmgr/gres_stepmgr.h"
#include "src/stepmgr/srun_comm.h"
#else
#include "src/common/gres.h"
#include "src/common/select.h"
#include "src/common/slurm_accounting_storage.h"
#include "src/common/slurm_mcs.h"
#include "src/slurmctld/gres_ctld.h"
#include "src/slurmctld/preempt.h"
#include "src/slurmctld/slurmctld.h"
#include "src/slurmctld/srun_comm.h"
#endif
#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/macros.h"
#include "src/common/node_conf.h"
#include "src/common/parse_time.h"
#include "src/common/plugin.h"
#include "src/common/read_config.h"
#include "src/common/slurm_protocol_api.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/slurm_resource_info.h"
#include "src/common/uid.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"
#include "src/slurmctld/slurmctld.h"

#include "src/slurmctld/acct_policy.h"
#include "src/slurmctld/agent.h"
#include "src/slurmctld/fed_mgr.h"
#include "src/slurmctld/job_scheduler.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/node_scheduler.h"
#include "src/slurmctld/ping_nodes.h"
#include "src/slurmctld/proc_req.h"
#include "src/slurmctld/reservation.h"
#include "src/slurmctld/state_save.h"

#pragma weak accounting_enforce
#pragma weak acct_db_conn
#pragma weak assoc_mgr_tres_array
#pragma weak assoc_mgr_tres_name_array
#pragma weak avail_node_bitmap
#pragma weak cg_node_bitmap
#pragma weak g_qos_count
#pragma weak idle_node_bitmap
#pragma weak job_list
#pragma weak last_job_update
#pragma weak last_node_update
#pragma weak last_part_update
#pragma weak last_resv_update
#pragma weak node_record_count
#pragma weak node_record_table_ptr
#pragma weak part_list
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#pragma weak power_node_bitmap
#else
#pragma weak power_down_node_bitmap
#endif
#pragma weak resv_list
#pragma weak rs_node_bitmap
#pragma weak slurmctld_config
#pragma weak slurmctld_diag_stats
#pragma weak slurmctld_tres_cnt
#pragma weak up_node_bitmap
}

#if !(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(22, 5, 0) &&  \
      SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 6, 0)) &&  \
    !(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0) && \
      SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 12, 0))
#error "the plugins of this release are written for Slurm 22.05 and 24.11"
#endif

// Names that releases spell in different ways.
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
using job_details_t = struct job_details;
using list_t = struct xlist;
using list_itr_t = struct listIterator;
#else
#define RESERVE_REOCCURING RESERVE_REOCCURRING
#endif

#undef info
#undef error
#undef verbose
#undef debug
#undef debug2
#undef debug3
#undef fatal
#undef MIN
#undef MAX

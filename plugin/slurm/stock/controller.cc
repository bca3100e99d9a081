// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/stock/controller.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

namespace {
std::string text(const char* words) { return words != nullptr ? words : ""; }
}  // namespace

std::string state_save_location() { return text(slurm_conf.state_save_location); }

std::string config_folder() {
  return std::filesystem::path(text(slurm_conf.slurm_conf)).parent_path().string();
}

std::string plugin_dir() { return text(slurm_conf.plugindir); }

bool scheduling_disabled() { return slurmctld_config.scheduling_disabled; }

bool shutting_down() { return slurmctld_config.shutdown_time != 0; }

// controller.c, _try_to_reconfig() of 24.11 sets it for the new process.
bool reconfigured() {
  return std::getenv("SLURMCTLD_RECONF") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

ChangeMark change_mark() {
  return {.jobs = last_job_update,
          .nodes = last_node_update,
          .partitions = last_part_update,
          .config = slurm_conf.last_update};
}

int coming_nodes() {
  const auto count = [](bitstr_t* nodes) { return nodes != nullptr ? bit_set_count(nodes) : 0; };
  return static_cast<int>(count(cg_node_bitmap) + count(rs_node_bitmap));
}

// The thread that accepts requests counts as one. The next request also counts while it waits for
// that thread (controller.c main, _slurmctld_rpc_mgr, _wait_for_server_thread).
bool quiet() { return slurmctld_config.server_thread_count <= 2; }

std::uint32_t scheduler_parameter(const char* name) {
  const char* found = xstrcasestr(slurm_conf.sched_params, name);
  if (found == nullptr) return 0;
  const long long number = std::strtoll(found + std::strlen(name), nullptr, 10);
  return static_cast<std::uint32_t>(std::clamp<long long>(number, 0, UINT32_MAX));
}

// job_scheduler.c, schedule().
int max_rpc_count() {
  const std::uint32_t count = scheduler_parameter("max_rpc_cnt=");
  const std::uint32_t most = count != 0 ? count : scheduler_parameter("max_rpc_count=");
  return static_cast<int>(std::min<std::uint32_t>(most, INT_MAX));
}

int rpc_count() { return slurmctld_config.server_thread_count; }

PrivateData private_data() {
  const auto hides = [](std::uint32_t flag) { return (slurm_conf.private_data & flag) != 0; };
  return {.jobs = hides(PRIVATE_DATA_JOBS),
          .nodes = hides(PRIVATE_DATA_NODES),
          .partitions = hides(PRIVATE_DATA_PARTITIONS),
          .users = hides(PRIVATE_DATA_USERS),
          .accounts = hides(PRIVATE_DATA_ACCOUNTS),
          .usage = hides(PRIVATE_DATA_USAGE)};
}

// Both functions take their own locks.
void save_soon() {
  schedule_job_save();
  schedule_node_save();
}

void wake_stock_scheduler() { queue_job_scheduler(); }

}  // namespace rubato

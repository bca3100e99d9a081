// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/controller.h"

#include <filesystem>

#include "plugin/slurm/slurm_headers.h"

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

ChangeMark change_mark() {
  return {.jobs = last_job_update,
          .nodes = last_node_update,
          .partitions = last_part_update,
          .config = slurm_conf.last_update};
}

void wake_stock_scheduler() { queue_job_scheduler(); }

}  // namespace rubato

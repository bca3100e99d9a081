// SPDX-License-Identifier: GPL-2.0-or-later
// The checks of `rubato doctor`. Each group has its own file, doctor_GROUP.cc.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/shared/site.h"

namespace rubato::tools {

struct PublishedStats;  // tools/shared/published.h

enum class Status { kOk, kWarn, kFail };

[[nodiscard]] inline const char* to_string(Status status) {
  switch (status) {
    case Status::kOk:
      return "OK";
    case Status::kWarn:
      return "WARN";
    case Status::kFail:
      return "FAIL";
  }
  return "";
}

/// One result of a check: a sentence, and the line that fixes it, if any.
struct Check {
  Status status = Status::kOk;
  std::string name;  ///< what was checked, as a short title
  std::string text;
  std::string line;  ///< "" if there is nothing to add
};

using Checks = std::vector<Check>;

/// Facts on this machine, collected before the checks.
struct Machine {
  Site site;
  std::string installed_slurm;  ///< "22.05.8", from slurmctld -V; "" if not installed here
  std::string running_slurm;    ///< from scontrol show config; "" if the controller is unreachable
  std::string running_plugin_dir;
  std::string unreachable;  ///< why the controller was not reached
  bool controller = false;  ///< this host is a SlurmctldHost
  std::string rubato_dir;   ///< folder of Rubato's plugins: from PluginDir, else the installation
                            ///< folder
  std::string stock_dir;    ///< folder of the stock plugins; "" if not found
};

/// Runs slurmctld and scontrol (at most 5 s) and examines the folders of PluginDir.
[[nodiscard]] Machine look_at_machine(Site site);

/// PluginDir, its plugin files and the releases they are for.
void check_plugins(const Machine& machine, Checks& checks);
/// plugstack.conf, if it names the SPANK plugin or could.
void check_spank(const Machine& machine, Checks& checks);
/// The other lines of slurm.conf.
void check_slurm_conf(const Machine& machine, Checks& checks);
/// bf_max_job_test of SchedulerParameters.
[[nodiscard]] std::optional<int> job_test_limit(const SlurmConf& conf);
/// rubato.conf and the names in it.
void check_rubato_conf(const Machine& machine, Checks& checks);
/// State folder, published folder and heartbeat.
void check_running(const Machine& machine, Checks& checks);

/// The database and models.json, from stats.json; no checks if it has no such data.
void check_store(const Machine& machine, const PublishedStats& stats, Checks& checks);

/// A line that an installation adds, whether it exists, and its effect.
struct InstallLine {
  std::string file;
  std::string line;
  bool present = false;
  std::string effect;
  std::string without_rubato;  ///< the line's value for stock Slurm
};

/// The line of plugstack.conf that loads the SPANK plugin.
struct PlugstackLine {
  std::string conf;  ///< plugstack.conf
  std::string text;  ///< without comment
  std::string path;  ///< of the plugin
  bool required = false;
  bool ignores = false;  ///< with hints=ignore
};

/// The first such line, without included files.
[[nodiscard]] std::optional<PlugstackLine> find_plugstack_line(const Machine& machine);

[[nodiscard]] std::vector<InstallLine> install_lines(const Machine& machine);

/// The steps to uninstall Rubato.
[[nodiscard]] std::string removal_steps(const Machine& machine);

/// True if a word of SchedulerParameters is `name` or begins with "name=".
[[nodiscard]] bool has_parameter(const SlurmConf& conf, const std::string& name);

}  // namespace rubato::tools

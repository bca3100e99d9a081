// SPDX-License-Identifier: GPL-2.0-or-later
// Collects facts on this machine before the checks.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "lib/base/nearest.h"
#include "tools/rubato/doctor/doctor.h"
#include "tools/rubato/doctor/plugin_files.h"
#include "tools/shared/output.h"
#include "tools/shared/process.h"

namespace rubato::tools {
namespace {

constexpr int kVersionTimeout = 2000;
constexpr int kControllerTimeout = 5000;

/// Folders in which distributions install the stock plugins.
constexpr std::array<const char*, 6> kStockFolders{"/usr/lib/x86_64-linux-gnu/slurm-wlm",
                                                   "/usr/lib/aarch64-linux-gnu/slurm-wlm",
                                                   "/usr/lib/x86_64-linux-gnu/slurm",
                                                   "/usr/lib64/slurm",
                                                   "/usr/lib/slurm",
                                                   "/usr/local/lib/slurm"};

/// "slurm-wlm 22.05.8\n" -> "22.05.8"
std::string last_word(const std::string& text) {
  const std::vector<std::string> words = split(text.substr(0, text.find('\n')), ' ');
  return words.empty() ? "" : words.back();
}

/// The value in a line "Name    = value" of scontrol show config.
std::string config_value(const std::string& text, const std::string& name) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::vector<std::string> key = split(line.substr(0, equals), ' ');
    if (key.size() != 1 || key.front() != name) continue;
    const std::vector<std::string> value = split(line.substr(equals + 1), ' ');
    return value.empty() ? "" : value.front();
  }
  return "";
}

bool is_controller(const SlurmConf& conf) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) return false;
  const std::string own = std::string(host.data()).substr(0, std::string(host.data()).find('.'));
  for (const ConfRecord& record : conf.records) {
    for (const auto& [key, value] : record.pairs) {
      if (key != "slurmctldhost" && key != "controlmachine" && key != "backupcontroller") continue;
      if (value.substr(0, value.find_first_of("(.")) == own) return true;
    }
  }
  return false;
}

void ask_controller(Machine& machine) {
  const std::string scontrol = find_program("scontrol");
  if (scontrol.empty()) {
    machine.unreachable = "scontrol is not installed here";
    return;
  }
  const auto answer = run_program({scontrol, "show", "config"}, kControllerTimeout);
  if (!answer) {
    machine.unreachable = answer.error().text;
    return;
  }
  machine.running_slurm = config_value(*answer, "SLURM_VERSION");
  machine.running_plugin_dir = config_value(*answer, "PluginDir");
  if (machine.running_slurm.empty()) {
    machine.unreachable = "scontrol show config prints no SLURM_VERSION";
  }
}

/// The folder in which `make install` put the plugins of the installed release.
std::string installed_folder(const std::string& slurm_version) {
  const char* given = std::getenv("RUBATO_PLUGIN_DIR");
  if (testing() && given != nullptr) return given;
  std::string folder = RUBATO_PLUGIN_DIR;
  if (folder.ends_with("slurm-")) folder += slurm_version.empty() ? "VERSION" : slurm_version;
  return folder;
}

void find_folders(Machine& machine) {
  std::vector<std::string> folders = machine.site.slurm.list("PluginDir", ':');
  const std::vector<std::string> running = split(machine.running_plugin_dir, ':');
  folders.insert(folders.end(), running.begin(), running.end());
  if (!testing()) folders.insert(folders.end(), kStockFolders.begin(), kStockFolders.end());
  for (const std::string& folder : folders) {
    const PluginKind kind = look_at_plugin(folder, "select_cons_tres.so").kind;
    if (kind == PluginKind::kRubato && machine.rubato_dir.empty()) machine.rubato_dir = folder;
    if (kind == PluginKind::kStock && machine.stock_dir.empty()) machine.stock_dir = folder;
  }
  if (machine.rubato_dir.empty()) machine.rubato_dir = installed_folder(machine.installed_slurm);
}

}  // namespace

bool has_parameter(const SlurmConf& conf, const std::string& name) {
  const std::vector<std::string> words = conf.list("SchedulerParameters");
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    const std::string lowered = lower(word);
    return lowered == name || lowered.starts_with(name + "=");
  });
}

Machine look_at_machine(Site site) {
  Machine machine;
  machine.site = std::move(site);
  machine.controller = is_controller(machine.site.slurm);
  if (const std::string slurmctld = find_program("slurmctld"); !slurmctld.empty()) {
    if (const auto version = run_program({slurmctld, "-V"}, kVersionTimeout)) {
      machine.installed_slurm = last_word(*version);
    }
  }
  ask_controller(machine);
  find_folders(machine);
  return machine;
}

}  // namespace rubato::tools

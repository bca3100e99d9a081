// SPDX-License-Identifier: GPL-2.0-or-later
// Checks PluginDir, its plugin files, and the Slurm releases they are for.
#include <fmt/format.h>

#include "lib/base/version.h"
#include "tools/rubato/doctor/doctor.h"
#include "tools/rubato/doctor/plugin_files.h"

namespace rubato::tools {
namespace {

std::string plugin_dir_line(const Machine& machine) {
  return fmt::format("PluginDir={}:{}", machine.rubato_dir,
                     machine.stock_dir.empty() ? "FOLDER-OF-THE-STOCK-PLUGINS" : machine.stock_dir);
}

/// True if all parts of PluginDir exist.
bool check_folders_exist(const std::vector<std::string>& folders, Checks& checks) {
  bool good = true;
  for (const std::string& folder : folders) {
    if (is_folder(folder)) continue;
    checks.push_back(
        {Status::kFail, "PluginDir",
         fmt::format("{} is not a directory on this host: every Slurm program that reads this file "
                     "stops with 'Bad value for PluginDir'. The directory may be empty",
                     folder),
         fmt::format("mkdir -p {}", folder)});
    good = false;
  }
  return good;
}

/// Checks the order of PluginDir. The kinds are those of select_cons_tres.so in each part.
void check_order(const Machine& machine, const std::vector<std::string>& folders, Checks& checks) {
  const auto kind = [](const std::string& folder) {
    return look_at_plugin(folder, "select_cons_tres.so").kind;
  };
  std::size_t rubato = folders.size();
  std::size_t stock = folders.size();
  for (std::size_t i = folders.size(); i-- > 0;) {
    if (kind(folders[i]) == PluginKind::kRubato) rubato = i;
    if (kind(folders[i]) == PluginKind::kStock) stock = i;
  }
  const std::string line = plugin_dir_line(machine);
  if (rubato == folders.size()) {
    // A host without slurmctld needs only the folder.
    const bool room = folders.size() > 1 && stock > 0 && !machine.controller;
    checks.push_back(
        {room ? Status::kOk : Status::kFail, "PluginDir",
         room ? "no Rubato plugin on this host; only the controller needs them"
              : "no directory in it contains Rubato's select_cons_tres.so, so Rubato is not loaded",
         room ? "" : line});
  } else if (stock == folders.size()) {
    checks.push_back({Status::kFail, "PluginDir",
                      "no directory in it contains the stock plugins; slurmctld would not start",
                      line});
  } else if (stock < rubato) {
    checks.push_back({Status::kFail, "PluginDir",
                      fmt::format("{} comes before {}, so slurmctld loads only the stock plugins",
                                  folders[stock], folders[rubato]),
                      line});
  } else {
    checks.push_back({Status::kOk, "PluginDir",
                      fmt::format("{} first, stock plugins in {}", folders[rubato], folders[stock]),
                      ""});
  }
}

void check_plugin_dir(const Machine& machine, Checks& checks) {
  const std::vector<std::string> folders = machine.site.slurm.list("PluginDir", ':');
  if (folders.empty()) {
    checks.push_back({Status::kFail, "PluginDir",
                      "slurm.conf has no PluginDir, so Rubato is not loaded",
                      plugin_dir_line(machine)});
    return;
  }
  if (check_folders_exist(folders, checks)) check_order(machine, folders, checks);
  const std::string written = machine.site.slurm.get_or("PluginDir", "");
  if (!machine.running_plugin_dir.empty() && machine.running_plugin_dir != written) {
    checks.push_back(
        {Status::kWarn, "PluginDir",
         fmt::format(
             "the running slurmctld uses PluginDir={}; it reads this line only when it starts",
             machine.running_plugin_dir),
         "systemctl restart slurmctld"});
  }
}

/// The slurmctld version that the files must match, and its description.
std::pair<std::string, std::string> slurm_to_match(const Machine& machine) {
  if (!machine.installed_slurm.empty()) return {machine.installed_slurm, "the installed slurmctld"};
  return {machine.running_slurm, "the running slurmctld"};
}

void check_one_file(const Machine& machine, const PluginFile& file, const std::string& name,
                    Checks& checks) {
  switch (file.kind) {
    case PluginKind::kMissing:
      checks.push_back(
          {Status::kFail, name,
           fmt::format("{} does not exist; slurmctld loads the stock plugin", file.path),
           "make install"});
      return;
    case PluginKind::kUnreadable:
      checks.push_back(
          {Status::kWarn, name, fmt::format("{} cannot be read by this user", file.path), ""});
      return;
    case PluginKind::kStock:
      checks.push_back(
          {Status::kFail, name,
           fmt::format("{} is not a Rubato plugin: it names no Slurm release", file.path),
           "make install"});
      return;
    case PluginKind::kRubato:
      break;
  }
  const auto [slurm, which] = slurm_to_match(machine);
  if (!slurm.empty() && slurm != file.marker.slurm_version) {
    checks.push_back(
        {Status::kFail, name,
         fmt::format("built for Slurm {}, but {} is {}: Slurm skips it and loads the stock plugin",
                     file.marker.slurm_version, which, slurm),
         "contrib/quickstart build"});
  } else if (file.marker.rubato_version != version()) {
    checks.push_back({Status::kWarn, name,
                      fmt::format("belongs to Rubato {}, this command to {}",
                                  file.marker.rubato_version, version()),
                      "make install"});
  } else {
    checks.push_back({Status::kOk, name,
                      fmt::format("Rubato {} for Slurm {}", file.marker.rubato_version,
                                  file.marker.slurm_version),
                      ""});
  }
}

void check_files(const Machine& machine, Checks& checks) {
  if (look_at_plugin(machine.rubato_dir, "select_cons_tres.so").kind == PluginKind::kMissing) {
    if (machine.controller) {
      checks.push_back({Status::kFail, "plugin files",
                        fmt::format("no Rubato plugin in {}", machine.rubato_dir), "make install"});
    }
    return;
  }
  std::vector<PluginMarker> markers;
  for (const char* name : kPluginFiles) {
    const PluginFile file = look_at_plugin(machine.rubato_dir, name);
    check_one_file(machine, file, name, checks);
    if (file.kind == PluginKind::kRubato) markers.push_back(file.marker);
  }
  for (const PluginMarker& marker : markers) {
    if (marker == markers.front()) continue;
    checks.push_back(
        {Status::kFail, "plugin files",
         fmt::format("the files in {} come from different builds and do not work together",
                     machine.rubato_dir),
         "make install"});
    return;
  }
}

void check_releases(const Machine& machine, Checks& checks) {
  if (!machine.installed_slurm.empty()) {
    checks.push_back({Status::kOk, "slurmctld", "installed: " + machine.installed_slurm, ""});
  } else {
    checks.push_back(
        {Status::kWarn, "slurmctld",
         "not found on this host, so its release was not compared; run this on the controller",
         ""});
  }
  if (machine.running_slurm.empty()) {
    checks.push_back({Status::kWarn, "controller", "not reached: " + machine.unreachable, ""});
  } else if (!machine.installed_slurm.empty() && machine.installed_slurm != machine.running_slurm) {
    checks.push_back(
        {Status::kFail, "controller",
         fmt::format("runs Slurm {}, but {} is installed; the plugins fit only one of them",
                     machine.running_slurm, machine.installed_slurm),
         "systemctl restart slurmctld"});
  } else {
    checks.push_back({Status::kOk, "controller", "reached, Slurm " + machine.running_slurm, ""});
  }
}

}  // namespace

void check_plugins(const Machine& machine, Checks& checks) {
  check_releases(machine, checks);
  check_plugin_dir(machine, checks);
  check_files(machine, checks);
}

}  // namespace rubato::tools

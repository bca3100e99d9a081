// SPDX-License-Identifier: GPL-2.0-or-later
// Checks plugstack.conf, whose line gives users the --dl-* options. The line is optional: no
// message on a host with neither line nor file.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "tools/rubato/doctor/doctor.h"
#include "tools/rubato/doctor/plugin_files.h"

namespace rubato::tools {
namespace {

constexpr const char* kSpankFile = "spank_rubato.so";
constexpr const char* kIgnoreHints = "hints=ignore";

std::string plugstack_path(const Machine& machine) {
  const std::string beside =
      (std::filesystem::path(machine.site.slurm.path).parent_path() / "plugstack.conf").string();
  return machine.site.slurm.get_or("PlugStackConfig", beside);
}

/// True if a folder of PluginDir has Rubato's plugins of slurmctld.
bool plugins_are_used(const Machine& machine) {
  const std::vector<std::string> folders = machine.site.slurm.list("PluginDir", ':');
  return std::any_of(folders.begin(), folders.end(), [](const std::string& folder) {
    return look_at_plugin(folder, "select_cons_tres.so").kind == PluginKind::kRubato;
  });
}

}  // namespace

std::optional<PlugstackLine> find_plugstack_line(const Machine& machine) {
  PlugstackLine found;
  found.conf = plugstack_path(machine);
  std::ifstream file(found.conf);
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    std::istringstream words(line);
    std::string kind;
    if (!(words >> kind >> found.path) || !found.path.ends_with(kSpankFile)) continue;
    found.required = kind == "required";
    for (std::string word; words >> word;) found.ignores |= word == kIgnoreHints;
    found.text = line.substr(0, line.find_last_not_of(" \t") + 1);
    return found;
  }
  return std::nullopt;
}

void check_spank(const Machine& machine, Checks& checks) {
  const std::string path = plugstack_path(machine);
  const std::string own = (std::filesystem::path(machine.rubato_dir) / kSpankFile).string();
  std::error_code ignored;
  const auto line = find_plugstack_line(machine);
  if (!line) {
    if (!std::filesystem::exists(own, ignored)) return;
    checks.push_back({Status::kOk, "plugstack.conf",
                      fmt::format("{} does not name {}: users can give hints only in --comment",
                                  path, kSpankFile),
                      "optional " + own});
    return;
  }
  // Slurm looks up a name without folders in PluginDir.
  const bool whole = line->path.starts_with('/');
  if (line->required) {
    checks.push_back({Status::kWarn, "plugstack.conf",
                      fmt::format("{} is 'required': on a host without the file no job can be "
                                  "submitted and no step starts",
                                  kSpankFile),
                      "optional " + line->path});
  } else if (whole && !std::filesystem::exists(line->path, ignored)) {
    checks.push_back(
        {Status::kWarn, "plugstack.conf",
         fmt::format("{} is not on this host: no --dl- options and no report file here",
                     line->path),
         std::filesystem::exists(own, ignored) ? "optional " + own : ""});
  } else if (line->ignores && plugins_are_used(machine)) {
    checks.push_back({Status::kWarn, "plugstack.conf",
                      fmt::format("{} in {}: the --dl- options do nothing, although PluginDir has "
                                  "Rubato's plugins",
                                  kIgnoreHints, path),
                      "optional " + line->path});
  } else if (!line->ignores && !plugins_are_used(machine)) {
    checks.push_back({Status::kWarn, "plugstack.conf",
                      fmt::format("{} is loaded, but PluginDir has no plugins of Rubato: {} makes "
                                  "the --dl- options do nothing",
                                  kSpankFile, kIgnoreHints),
                      fmt::format("{} {}", line->text, kIgnoreHints)});
  } else {
    checks.push_back({Status::kOk, "plugstack.conf", line->text, ""});
  }
}

}  // namespace rubato::tools

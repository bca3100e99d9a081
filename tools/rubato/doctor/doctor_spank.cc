// SPDX-License-Identifier: GPL-2.0-or-later
// Checks plugstack.conf, whose line gives users the --dl-* options. The line is optional: no
// message on a host with neither line nor file.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "tools/rubato/doctor/doctor.h"

namespace rubato::tools {
namespace {

constexpr const char* kSpankFile = "spank_rubato.so";

struct PlugstackLine {
  bool required = false;
  std::string path;
};

std::string plugstack_path(const Machine& machine) {
  const std::string beside =
      (std::filesystem::path(machine.site.slurm.path).parent_path() / "plugstack.conf").string();
  return machine.site.slurm.get_or("PlugStackConfig", beside);
}

/// The first line that names the plugin. Ignores included files.
std::optional<PlugstackLine> find_line(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string kind;
    PlugstackLine found;
    if (words >> kind >> found.path && found.path.ends_with(kSpankFile)) {
      found.required = kind == "required";
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

void check_spank(const Machine& machine, Checks& checks) {
  const std::string path = plugstack_path(machine);
  const std::string own = (std::filesystem::path(machine.rubato_dir) / kSpankFile).string();
  std::error_code ignored;
  const auto line = find_line(path);
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
  } else {
    checks.push_back({Status::kOk, "plugstack.conf", fmt::format("optional {}", line->path), ""});
  }
}

}  // namespace rubato::tools

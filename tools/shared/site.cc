// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/site.h"

#include "lib/base/file_system.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

constexpr const char* kDefaultStateDir = "/var/spool";  // slurm.conf(5)

std::string beside(const std::string& path, const std::string& name) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? name : path.substr(0, slash + 1) + name;
}

}  // namespace

Result<LoadedConfig> load_config(const std::string& path) {
  return load_config_file(path, RealFileSystem(), testing());
}

Result<Site> find_site() {
  const std::string path = slurm_conf_path();
  auto slurm = read_slurm_conf(path);
  if (!slurm) return tl::unexpected(slurm.error());

  Site site;
  site.slurm = std::move(*slurm);
  site.state_dir = site.slurm.get_or("StateSaveLocation", kDefaultStateDir);
  site.rubato_conf_path = beside(path, "rubato.conf");
  if (auto loaded = load_config(site.rubato_conf_path)) {
    site.config = std::move(loaded->config);
    site.config_present = loaded->present;
  } else {
    site.config_error = loaded.error().text;
  }
  site.publish_dir = site.config.publish_dir.empty() ? site.state_dir + "/rubato/publish"
                                                     : site.config.publish_dir;
  return site;
}

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// Where things are on this machine: slurm.conf, rubato.conf, the folders they name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/config.h"
#include "tools/shared/slurm_conf.h"

namespace rubato::tools {

struct Site {
  SlurmConf slurm;
  std::string state_dir;         ///< StateSaveLocation
  std::string rubato_conf_path;  ///< beside slurm.conf
  Config config;                 ///< defaults where rubato.conf is missing or bad
  std::string publish_dir;       ///< PublishDir, or StateSaveLocation/rubato/publish
  /// The whole files, where PrivateData hides something from the published ones; "" where another
  /// PublishDir was asked for. root and SlurmUser can read it.
  std::string private_dir;
  bool config_present = false;  ///< there is a rubato.conf, and it was read
  /// Why the rubato.conf that is there was not used: all its errors, one a line.
  std::optional<std::string> config_error;
};

/// Reads slurm.conf and rubato.conf. Fails only if slurm.conf cannot be read.
[[nodiscard]] Result<Site> find_site();

/// Reads and parses one rubato.conf. Test-only keys are taken with RUBATO_TESTING=1.
[[nodiscard]] Result<LoadedConfig> load_config(const std::string& path);

}  // namespace rubato::tools

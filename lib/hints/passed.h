// SPDX-License-Identifier: GPL-2.0-or-later
// Hints passed from the SPANK plugin at the client to slurmctld: variables of the job's control
// environment (spank_job_control_setenv, SPANK(8)).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/hints/read.h"

namespace rubato {

/// The texts of both layers that a client passed.
struct PassedHints {
  std::vector<OptionPair> options;
  std::vector<std::string> environment;  ///< RUBATO_DL_NAME=VALUE

  [[nodiscard]] bool empty() const { return options.empty() && environment.empty(); }
};

/// `variables` are NAME=VALUE, with or without SPANK_ before the name; others are ignored:
///   RUBATO_DL_GPUS=1-8         the option --dl-gpus=1-8
///   RUBATO_DL_GPUS_UNSET=1     the option --no-dl-gpus
///   RUBATO_DLENV_GPUS=1-8      RUBATO_DL_GPUS=1-8 in the environment of the client
[[nodiscard]] PassedHints passed_hints(std::span<const std::string_view> variables);

}  // namespace rubato

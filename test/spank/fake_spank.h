// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's side of SPANK, as far as the plugin calls it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugin/spank/spank_header.h"

namespace rubato {

struct FakeSpank {
  std::vector<spank_option> options;
  std::map<std::string, std::string> control;  ///< spank_job_control_setenv
  std::vector<std::string> said;               ///< slurm_error and slurm_spank_log

  /// As if the option stood on the command line; the callback's answer.
  int give(const std::string& name, const char* value);
};

/// Begins anew.
FakeSpank& new_fake_spank();
FakeSpank& fake_spank();

}  // namespace rubato

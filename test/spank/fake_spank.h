// SPDX-License-Identifier: GPL-2.0-or-later
// A fake of the SPANK functions that the plugin calls.
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

  /// Simulates the option on the command line; returns the callback's result.
  int give(const std::string& name, const char* value);
};

/// Resets the state.
FakeSpank& new_fake_spank();
FakeSpank& fake_spank();

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The command line of rqueue: squeue's options and a few more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "tools/shared/command.h"
#include "tools/shared/format.h"

namespace rubato::tools {

/// What to print.
enum class RqueueAction {
  kJobs,
  kHelp,
  kHelpFormat,
  kUsage,
  kVersion,
  kSqueue,  ///< run squeue instead: --steps, --yaml
};

struct RqueueOptions {
  RqueueAction action = RqueueAction::kJobs;
  std::vector<std::string> passed;  ///< options for squeue that select jobs
  std::optional<Format> format;     ///< from -o, -O or the environment
  bool json = false;
  bool long_list = false;
  bool start = false;
  bool no_header = false;
  bool verbose = false;
  bool several_clusters = false;  ///< -M or SLURM_CLUSTERS may name more than one
  int iterate = 0;                ///< seconds; 0: once
  std::string sort;               ///< "": squeue's default
  ColorChoice color = ColorChoice::kAuto;
};

/// Also reads the environment (RQUEUE_FORMAT, RQUEUE_FORMAT2, RQUEUE_SORT). The error is one line.
[[nodiscard]] Result<RqueueOptions> read_rqueue_options(int argc, char** argv);

/// Names of all long options, without dashes, in the order of squeue(1).
[[nodiscard]] std::vector<std::string> rqueue_long_options();

[[nodiscard]] std::string rqueue_help();
[[nodiscard]] std::string rqueue_help_format();
[[nodiscard]] std::string rqueue_usage();

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// Values of sbatch options that ask for GPUs and nodes.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"

namespace rubato::tools {

struct GpuWords {
  int gpus = 0;                    ///< in all
  std::vector<std::string> types;  ///< that are named
};

/// "4", "a100:4", "a100:2,v100:2"; of `option`, which the error names. "" is none.
[[nodiscard]] Result<GpuWords> read_gpus(const char* option, const std::string& text);

struct NodeWords {
  int least = 1;
  int most = 0;  ///< 0: no bound
};

/// "2" or "2-4"; of --nodes. "" is any number.
[[nodiscard]] Result<NodeWords> read_nodes(const std::string& text);

}  // namespace rubato::tools

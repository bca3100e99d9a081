// SPDX-License-Identifier: GPL-2.0-or-later
// Converts Slurm's form of a request (text and numbers) to the request that hints are checked
// against. Uses no Slurm types, so that every form has a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/units.h"
#include "lib/hints/request.h"

namespace rubato {

/// GPUs in a list of TRES.
struct TresGpus {
  int count = 0;
  std::vector<std::string> types;  ///< named types, in order, without duplicates
  bool shared = false;             ///< mps, shard, or a slice of a GPU (MIG)
};

/// Reads "gres:gpu:2", "gpu:a100:2", "gres/gpu:a100=2", "gpu" and comma-separated lists of them,
/// also among other resources. Malformed counts mean one GPU of that type, as in Slurm. Counts are
/// limited to kMaxGpus.
[[nodiscard]] TresGpus gpus_in(std::string_view tres);

/// `tres` with this many GPUs: changes the count of its first GPU entry, or appends an entry of
/// `type` ("" for none). 0 removes the GPUs. Other resources stay.
[[nodiscard]] std::string with_gpus(std::string_view tres, int gpus, std::string_view type = "");

/// A request in Slurm's form; 0 and "" mean not given.
struct RequestFacts {
  std::string per_job = {};     ///< TRES: --gpus
  std::string per_node = {};    ///< --gpus-per-node, --gres
  std::string per_task = {};    ///< --gpus-per-task
  std::string per_socket = {};  ///< --gpus-per-socket
  int min_nodes = 0;
  int max_nodes = 0;
  int tasks = 0;
  int tasks_per_node = 0;
  bool exclusive = false;
  bool batch = true;
  bool requeue = true;
  bool array = false;
  bool het = false;
  Seconds time_limit = 0;                       ///< 0: unknown; kForever: none
  std::vector<std::string> cluster_types = {};  ///< empty: unknown

  bool operator==(const RequestFacts&) const = default;
};

/// Slurm derives missing values at the client or at submit: nodes from --gpus and --gpus-per-node,
/// tasks from the nodes and --ntasks-per-node. This function does the same, so that a job's request
/// is equal before and after.
[[nodiscard]] HintRequest hint_request(const RequestFacts& facts);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// From what Slurm has of a request, as text and numbers, to the request that hints are checked
// against. Without Slurm's types, so that every form has a test.
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
  std::vector<std::string> types;  ///< those it names, in order, each once
  bool shared = false;             ///< mps, shard, or a slice of a GPU (MIG)
};

/// Reads "gres:gpu:2", "gpu:a100:2", "gres/gpu:a100=2", "gpu" and lists of them with commas
/// between, other resources beside them. What cannot be read counts as one GPU of that type, as for
/// Slurm; counts that do not fit are clipped to kMaxGpus.
[[nodiscard]] TresGpus gpus_in(std::string_view tres);

/// `tres` with so many GPUs: the count of its first GPU entry, or a new entry at its end of `type`
/// ("" without one); 0 takes the GPUs out. Other resources stay.
[[nodiscard]] std::string with_gpus(std::string_view tres, int gpus, std::string_view type = "");

/// What Slurm has of a request; 0 and "" where nothing is said.
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
  Seconds time_limit = 0;                       ///< 0: not known; kForever: none
  std::vector<std::string> cluster_types = {};  ///< empty: not known

  bool operator==(const RequestFacts&) const = default;
};

/// Slurm fills in what follows from the rest (nodes from --gpus and --gpus-per-node, tasks from the
/// nodes and --ntasks-per-node), at the client or at submit. So does this: a job's request is the
/// same before and after.
[[nodiscard]] HintRequest hint_request(const RequestFacts& facts);

}  // namespace rubato

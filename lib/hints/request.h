// SPDX-License-Identifier: GPL-2.0-or-later
// What a job asks Slurm for, as far as hints depend on it, and what its hints mean together with
// it. The Slurm request is the reference: valid without Rubato, and one of the sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/units.h"
#include "lib/hints/hints.h"

namespace rubato {

/// As the user wrote it; counts are 0 where the job does not say.
struct HintRequest {
  int gpus = 0;           ///< --gpus
  int gpus_per_node = 0;  ///< --gpus-per-node, --gres=gpu
  int gpus_per_task = 0;  ///< --gpus-per-task
  int min_nodes = 1;      ///< -N
  int max_nodes = 0;      ///< 0: -N is not said; fixed when equal to min_nodes
  int tasks = 0;          ///< -n, --ntasks; not --ntasks-per-node, which follows the nodes
  std::vector<std::string> gpu_types;  ///< types that the request names
  bool shared_gpus = false;            ///< shards, MPS or slices of GPUs
  bool exclusive = false;              ///< --exclusive
  bool batch = true;                   ///< sbatch; false: salloc or srun waits
  bool requeue = true;                 ///< Slurm may requeue it (--requeue, JobRequeue=1)
  bool array = false;
  bool het = false;
  Seconds time_limit = 0;                  ///< 0: not known; kForever: none
  std::vector<std::string> cluster_types;  ///< types there are; empty: not known

  [[nodiscard]] bool nodes_fixed() const { return max_nodes > 0 && min_nodes == max_nodes; }
  /// -N is a range and the GPUs are counted a node: Slurm chooses the size.
  [[nodiscard]] bool open() const {
    return gpus == 0 && gpus_per_node > 0 && max_nodes > min_nodes;
  }
  /// GPUs in total; the fewest of an open request.
  [[nodiscard]] std::int64_t total_gpus() const;
  /// What every size must be a multiple of: GPUs of a node where whole nodes are the unit (-N fixed
  /// with --gpus-per-node), --gpus-per-task, and the fewest GPUs for which --ntasks stays whole.
  [[nodiscard]] std::int64_t size_unit() const;
};

/// How the job wrote its hints, so that an error can name the line to write instead.
enum class Spelling {
  kOption,   ///< --dl-gpus=1,2
  kComment,  ///< gpus=1,2
};

/// Hints with the defaults in place, checked against the request.
struct ResolvedHints {
  std::string job_type;  ///< "" when the job has none
  GpuSizes sizes;        ///< sizes it can run at; empty without GPUs
  std::int64_t request_gpus = 0;
  std::int64_t unit = 1;       ///< HintRequest::size_unit
  GpuTypes gpu_types;          ///< empty: any
  std::optional<Batch> batch;  ///< nullopt: what the job chose, fixed
  std::optional<Work> work;
  std::optional<ModelShape> model;
  std::optional<Plans> plans;  ///< nullopt: as submitted
  Checkpoint checkpoint;       ///< without consent when nothing is said
  Resize resize = Resize::kNone;
  Device device = Device::kGpu;
  bool mix_types = false;
  /// One sentence for each value of a JobType= line that does not fit this request.
  std::vector<std::string> notes;

  bool operator==(const ResolvedHints&) const = default;
};

/// Checks `said` (options, environment and comment merged), completed by the JobType= line, against
/// the request, by the table of hint_rules(). Values of the job itself that do not fit are errors,
/// all of them, each a line with the word, the reason and the line to write instead. Values of the
/// JobType= line that do not fit are left out: what an admin wrote for all jobs of a type never
/// refuses one. Nothing is half applied: without an error every value of `said` is in the result.
[[nodiscard]] Result<ResolvedHints> resolve_hints(const Hints& said, const Hints& job_type,
                                                  const HintRequest& request,
                                                  Spelling spelling = Spelling::kOption);

}  // namespace rubato

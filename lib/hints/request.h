// SPDX-License-Identifier: GPL-2.0-or-later
// The part of a job's Slurm request that hints depend on, and the check of hints against it. The
// request is the reference: it is valid without Rubato, and one of the sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/units.h"
#include "lib/hints/hints.h"

namespace rubato {

/// As the user wrote it; counts not given are 0.
struct HintRequest {
  int gpus = 0;           ///< --gpus
  int gpus_per_node = 0;  ///< --gpus-per-node, --gres=gpu
  int gpus_per_task = 0;  ///< --gpus-per-task
  int min_nodes = 1;      ///< -N
  int max_nodes = 0;      ///< 0: no -N; fixed if equal to min_nodes
  int tasks = 0;          ///< -n, --ntasks; not --ntasks-per-node, which scales with nodes
  std::vector<std::string> gpu_types;  ///< types that the request names
  bool shared_gpus = false;            ///< shards, MPS or slices of GPUs
  bool exclusive = false;              ///< --exclusive
  bool batch = true;                   ///< sbatch; false: salloc or srun waits
  bool requeue = true;                 ///< Slurm may requeue it (--requeue, JobRequeue=1)
  bool array = false;
  bool het = false;
  Seconds time_limit = 0;                  ///< 0: unknown; kForever: none
  std::vector<std::string> cluster_types;  ///< GPU types of the cluster; empty: unknown

  [[nodiscard]] bool nodes_fixed() const { return max_nodes > 0 && min_nodes == max_nodes; }
  /// True if -N is a range and GPUs are requested per node: Slurm chooses the size.
  [[nodiscard]] bool open() const {
    return gpus == 0 && gpus_per_node > 0 && max_nodes > min_nodes;
  }
  /// Total GPUs; the minimum of an open request.
  [[nodiscard]] std::int64_t total_gpus() const;
  /// Every size must be a multiple of this. It follows from the GPUs per node if -N is fixed, from
  /// --gpus-per-task, and from the fewest GPUs for which --ntasks is an integer.
  [[nodiscard]] std::int64_t size_unit() const;
};

/// How the job wrote its hints, so that an error can suggest the line to write.
enum class Spelling {
  kOption,   ///< --dl-gpus=1,2
  kComment,  ///< gpus=1,2
};

/// Hints with defaults, checked against the request.
struct ResolvedHints {
  std::string job_type;  ///< "" if the job has none
  GpuSizes sizes;        ///< sizes it can run at; empty without GPUs
  std::int64_t request_gpus = 0;
  std::int64_t unit = 1;       ///< HintRequest::size_unit
  GpuTypes gpu_types;          ///< empty: any
  std::optional<Batch> batch;  ///< nullopt: fixed by the job
  std::optional<Work> work;
  std::optional<ModelShape> model;
  std::optional<Plans> plans;  ///< nullopt: as submitted
  Checkpoint checkpoint;       ///< without consent if it is not set
  Resize resize = Resize::kNone;
  Device device = Device::kGpu;
  bool mix_types = false;
  /// One sentence per JobType= value that does not fit this request.
  std::vector<std::string> notes;

  bool operator==(const ResolvedHints&) const = default;
};

/// Checks `said` (options, environment and comment merged), completed by the JobType= line, against
/// the request, by the table of hint_rules(). Unsuitable values of the job are errors, one line
/// each with the word, the reason and a corrected line. Unsuitable values of the JobType= line are
/// ignored, so that they never refuse a job. Without an error, the result has every value of
/// `said`.
[[nodiscard]] Result<ResolvedHints> resolve_hints(const Hints& said, const Hints& job_type,
                                                  const HintRequest& request,
                                                  Spelling spelling = Spelling::kOption);

}  // namespace rubato

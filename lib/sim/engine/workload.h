// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a simulated workload, in the form that all input formats produce.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/index.h"

namespace rubato::sim {

/// Time of a training iteration. Each worker has a GPU and an equal part of the global batch. With
/// m samples on each of w workers, and p parameter servers:
///
///   fixed_s + m * sample_s + 2 (w - 1) / w * gradient_mb / link_mb_s
///     + (w * exchange_s) / p + w * worker_s + p * server_s
///
/// This models a ring among the workers (Saxena et al., MASCOTS 2020), servers (Zhao et al., HPDC
/// 2021), or neither. A part that is 0 takes no time; without servers the quotient uses p = 1.
struct StepCosts {
  double fixed_s = 0;      ///< s
  double sample_s = 0;     ///< s per sample of the local batch
  double gradient_mb = 0;  ///< MB that workers reduce
  double link_mb_s = 1;    ///< MB/s of the ring, above 0
  double exchange_s = 0;   ///< s of push, update and pull
  double worker_s = 0;     ///< s
  double server_s = 0;     ///< s
  double max_local = 0;    ///< maximum samples on a GPU; 0: unlimited

  bool operator==(const StepCosts&) const = default;
};

/// Maximum time in an input, s: about 300 years. Larger sums lose precision below a second.
inline constexpr double kMaxSeconds = 1e10;

/// Position of a job in its file, for messages. Never compared.
struct SourceLine {
  std::size_t number = 0;  ///< 0: not from a file

  bool operator==(const SourceLine& /*other*/) const { return true; }
};

/// A job. Times are seconds from the start of the trace. Fields that a format lacks keep their
/// defaults.
struct SimJob {
  std::string key;     ///< unique in its workload
  std::string model;   ///< job type: the key of its profile
  double arrival = 0;  ///< s; below 0: it waits or runs already when the simulation begins
  double work = 0;     ///< total, in the unit of Truth::throughput (steps, iterations, samples, s)
  int gpus = 1;        ///< as requested; at least 1
  int min_gpus = 1;    ///< range of sizes; all three are equal for a rigid job
  int max_gpus = 1;    ///<
  std::vector<int> sizes;          ///< allowed sizes in the range; empty: all
  std::vector<std::string> types;  ///< GPU types it may run on; empty: any
  double weight = 1;
  double batch = 0;      ///< global batch set by the user, samples; 0: unknown
  double min_batch = 0;  ///< range of batches that keep accuracy; 0: `batch` only
  double max_batch = 0;
  std::string plan;      ///< the user's execution plan; "" for none
  double start_s = 0;    ///< cost of its first start: it holds GPUs without progress
  double restart_s = 0;  ///< cost of each later start
  double resize_s = -1;  ///< cost of a change while it runs; below 0: restart_s
  bool restarts = true;  ///< its user lets it be restarted; peers do not ask
  int cores_per_gpu = 1;
  long memory_per_gpu = 0;                                      ///< MiB
  double time_limit = std::numeric_limits<double>::infinity();  ///< s; the job is ended there
  std::optional<StepCosts> step;  ///< time of its iterations; if set, work is in samples
  int servers = 0;                ///< number of its requested GPUs that run parameter servers
  double forecast_error = 0;      ///< standard deviation of the logarithm of its remaining-time
                                  ///< forecasts
  bool predictable = true;        ///< its forecasts are reliable
  bool guaranteed = false;        ///< its requested resources are guaranteed
  bool hints = true;  ///< its user gives hints; without them Rubato knows nothing of its speed
  int nodes = 0;      ///< nodes it needs, with equal parts of its GPUs; 0: any
  /// It runs when the simulation begins, since this time (at most 0).
  std::optional<double> running_since;
  std::string account;
  /// Other columns of the format, by heading.
  std::map<std::string, std::string> more;
  SourceLine line;

  [[nodiscard]] bool rigid() const { return min_gpus == max_gpus; }
  bool operator==(const SimJob&) const = default;
};

/// A job: an index into its JobList.
using JobIndex = Index<struct SimJobTag>;

/// Jobs in file order. Arrivals may be in any order unless a format forbids it.
using JobList = std::vector<SimJob>;

}  // namespace rubato::sim

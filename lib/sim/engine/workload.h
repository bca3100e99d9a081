// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a simulated workload, as every format of input gives them.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rubato::sim {

/// Where the time of an iteration goes, of training whose workers each have a GPU and an equal part
/// of the global batch: with m samples on each of w workers, and p parameter servers,
///
///   fixed_s + m * sample_s + 2 (w - 1) / w * gradient_mb / link_mb_s
///     + (w * exchange_s) / p + w * worker_s + p * server_s
///
/// that is, a ring among the workers (Saxena et al., MASCOTS 2020), servers (Zhao et al., HPDC
/// 2021), or neither. A part that is 0 takes no time; without a server p is 1 in the quotient.
struct StepCosts {
  double fixed_s = 0;      ///< s
  double sample_s = 0;     ///< s a sample of the local batch
  double gradient_mb = 0;  ///< MB that workers reduce
  double link_mb_s = 1;    ///< MB/s of the ring, above 0
  double exchange_s = 0;   ///< s of push, update and pull
  double worker_s = 0;     ///< s
  double server_s = 0;     ///< s
  double max_local = 0;    ///< samples that a GPU holds; 0: not limited

  bool operator==(const StepCosts&) const = default;
};

/// The most that a time of an input may say, s: about 300 years. Beyond it sums lose their seconds.
inline constexpr double kMaxSeconds = 1e10;

/// Position of a job in its file, for messages. Never compared.
struct SourceLine {
  std::size_t number = 0;  ///< 0: of no file

  bool operator==(const SourceLine& /*other*/) const { return true; }
};

/// A job that arrives. Times are seconds from the start of the trace. What a format does not give
/// stays at its default.
struct SimJob {
  std::string key;     ///< unique in its workload
  std::string model;   ///< job type: the key of its profile
  double arrival = 0;  ///< s, at least 0
  double work = 0;     ///< total, in the unit of Truth::throughput (steps, iterations, samples, s)
  int gpus = 1;        ///< as requested; at least 1
  int min_gpus = 1;    ///< the range it can run at; a rigid job has all three alike
  int max_gpus = 1;    ///<
  std::vector<int> sizes;          ///< allowed sizes of the range; empty: all
  std::vector<std::string> types;  ///< of GPUs it may run on; empty: any
  double weight = 1;
  double batch = 0;      ///< global batch its user set, samples; 0: unknown
  double min_batch = 0;  ///< range of batches safe for accuracy; 0: `batch` alone
  double max_batch = 0;
  std::string plan;      ///< its user's execution plan; "" for none
  double start_s = 0;    ///< cost of its first start: it holds GPUs and makes no progress
  double restart_s = 0;  ///< cost of each later start
  double resize_s = -1;  ///< cost of a change while it runs; below 0: as a restart
  int cores_per_gpu = 1;
  long memory_per_gpu = 0;                                      ///< MiB
  double time_limit = std::numeric_limits<double>::infinity();  ///< s; it is ended there
  std::optional<StepCosts> step;  ///< where its iterations' time goes; its work is samples then
  int servers = 0;                ///< of its requested GPUs these are for parameter servers
  double forecast_error = 0;      ///< standard deviation of the logarithm of forecasts of its time
  bool predictable = true;        ///< its forecasts can be relied on
  bool guaranteed = false;        ///< its requested resources are promised
  std::string account;
  /// Other columns of the format, by heading.
  std::map<std::string, std::string> more;
  SourceLine line;

  [[nodiscard]] bool rigid() const { return min_gpus == max_gpus; }
  bool operator==(const SimJob&) const = default;
};

/// In the order of the file. Arrivals may be in any order unless a format forbids it.
using JobList = std::vector<SimJob>;

}  // namespace rubato::sim

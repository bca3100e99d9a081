// SPDX-License-Identifier: GPL-2.0-or-later
// The jobs of a simulated workload, as every format of input gives them.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace rubato::sim {

/// A job that comes. Times are seconds from the begin of the trace. What a format does not tell
/// stays at its default.
struct SimJob {
  std::string key;         ///< unique in its workload
  std::string model;       ///< the kind of job: what profiles are found by
  double arrival = 0;      ///< s, at least 0
  double work = 0;         ///< total, in the unit of Truth::rate (steps, iterations, samples, s)
  int gpus = 1;            ///< as requested; at least 1
  int min_gpus = 1;        ///< the range it can run at; a rigid job has all three alike
  int max_gpus = 1;        ///<
  std::vector<int> sizes;  ///< what of the range; empty: all of it
  std::vector<std::string> types;  ///< of GPUs it may run on; empty: any
  double weight = 1;
  double batch = 0;      ///< global batch its user set, samples; 0: not told
  double min_batch = 0;  ///< range of batches safe for accuracy; 0: `batch` alone
  double max_batch = 0;
  std::string plan;      ///< its user's execution plan; "" for none
  double start_s = 0;    ///< cost of its first start: it holds GPUs and makes no progress
  double restart_s = 0;  ///< cost of each later start
  double resize_s = -1;  ///< cost of a change while it runs; below 0: as a restart
  int cores_per_gpu = 1;
  long memory_per_gpu = 0;                                      ///< MiB
  double time_limit = std::numeric_limits<double>::infinity();  ///< s; it is ended there
  bool guaranteed = false;  ///< its requested resources are promised
  std::string account;
  /// Whatever else a format tells, by the heading of its column.
  std::map<std::string, std::string> more;

  [[nodiscard]] bool rigid() const { return min_gpus == max_gpus; }
  bool operator==(const SimJob&) const = default;
};

/// In the order of the file. Arrivals may be in any order unless a format forbids it.
using JobList = std::vector<SimJob>;

}  // namespace rubato::sim

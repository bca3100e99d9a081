// SPDX-License-Identifier: GPL-2.0-or-later
// Input of the step-time models: means of reports with the same resources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// Reports of one profile on one GPU type with the same GPUs, nodes, plan, batch, cores and tasks.
/// A count of 0 is unknown; all counts are of the whole job.
struct MeasuredRow {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 0;  ///< 0: on CPUs
  int nodes = 0;
  std::string plan{};      ///< execution plan, "" as submitted
  std::int64_t batch = 0;  ///< global, samples
  int cores = 0;
  int workers = 0;  ///< of a job with parameter servers
  int servers = 0;
  int server_cores = 0;   ///< of one server
  double throughput = 0;  ///< mean, samples/s
  std::int64_t samples = 0;
  std::optional<double> forward{};    ///< seconds per iteration, as the following ones
  std::optional<double> sync{};       ///< communication that does not overlap
  std::optional<double> optimise{};   ///< update of the parameters
  std::optional<double> iteration{};  ///< total
  std::optional<double> noise{};      ///< gradient noise scale, samples

  bool operator==(const MeasuredRow&) const = default;

  /// Seconds of an iteration: as reported, else from batch and throughput; 0 if neither is known.
  [[nodiscard]] double seconds() const;
};

/// Orders by profile, GPU type, GPUs, nodes, plan, batch, cores, workers, servers, their cores. No
/// two rows of a list are equal in these.
[[nodiscard]] bool row_before(const MeasuredRow& a, const MeasuredRow& b);

/// True if names, counts and numbers are possible in a report.
[[nodiscard]] bool usable(const MeasuredRow& row);

}  // namespace rubato

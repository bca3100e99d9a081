// SPDX-License-Identifier: GPL-2.0-or-later
// What the models of step times are fitted to: means of reports with the same resources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// Reports of one profile on one GPU type with the same GPUs, nodes, plan, batch, cores and tasks.
/// Counts of 0 are not known; all are of the whole job.
struct MeasuredRow {
  ProfileName profile;
  std::string gpu_type;
  int gpus = 0;  ///< 0: it ran without
  int nodes = 0;
  std::string plan{};      ///< execution plan, "" as submitted
  std::int64_t batch = 0;  ///< global, samples
  int cores = 0;
  int workers = 0;  ///< of a job with parameter servers
  int servers = 0;
  int server_cores = 0;   ///< of one server
  double throughput = 0;  ///< mean, samples/s
  std::int64_t samples = 0;
  std::optional<double> forward{};    ///< seconds of an iteration, as all of these
  std::optional<double> sync{};       ///< communication that nothing hides
  std::optional<double> optimise{};   ///< update of the parameters
  std::optional<double> iteration{};  ///< all of it
  std::optional<double> noise{};      ///< gradient noise scale, samples

  bool operator==(const MeasuredRow&) const = default;

  /// Seconds of an iteration: as reported, else from batch and rate; 0 if neither is known.
  [[nodiscard]] double seconds() const;
};

/// By profile, GPU type, GPUs, nodes, plan, batch, cores, workers, servers, their cores: no two
/// rows of a list are equal in these.
[[nodiscard]] bool row_before(const MeasuredRow& a, const MeasuredRow& b);

/// Names, counts and numbers that a report can have.
[[nodiscard]] bool usable(const MeasuredRow& row);

}  // namespace rubato

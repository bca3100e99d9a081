// SPDX-License-Identifier: GPL-2.0-or-later
// What a round asks of the models about a job: throughput and its uncertainty, costs, and the best
// plan and batch.
#pragma once

#include <optional>
#include <string>

#include "lib/base/units.h"
#include "lib/model/predictor.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {

/// The answers do not change during a round.
class ThroughputForecasts {
 public:
  ThroughputForecasts() = default;
  ThroughputForecasts(const ThroughputForecasts&) = delete;
  ThroughputForecasts& operator=(const ThroughputForecasts&) = delete;
  virtual ~ThroughputForecasts() = default;

  /// False: nothing was measured, so throughput() and choice() must not be called.
  [[nodiscard]] virtual bool measured() const = 0;
  /// Speed of a GPU type relative to the others, over all job types; above 0.
  [[nodiscard]] virtual double speed(const std::string& gpu_type) const = 0;
  /// Throughput of a job as it is, at its own plan, batch, nodes and cores.
  [[nodiscard]] virtual Forecast throughput(const JobKey& job, const JobSpec& spec,
                                            const Resources& at) const = 0;
  /// The best plan and batch, where the job's hints leave them open. nullopt: no model of these
  /// knows the job.
  [[nodiscard]] virtual std::optional<Prediction> choice(const JobKey& job, const JobSpec& spec,
                                                         const Resources& at) const = 0;
  /// Seconds in which the next start of a job holds GPUs without progress; 0 if not known.
  [[nodiscard]] virtual double start_seconds(const JobKey& job) const = 0;
  /// Efficient samples that a job still has to do, if known exactly; else its hints and reports
  /// tell.
  [[nodiscard]] virtual std::optional<double> work_left(const JobKey& job) const = 0;
  /// Seconds until a running job ends, if known exactly; else its reports tell.
  [[nodiscard]] virtual std::optional<double> seconds_left(const JobKey& job) const = 0;
};

}  // namespace rubato

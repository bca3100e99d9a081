// SPDX-License-Identifier: GPL-2.0-or-later
// The global batch for a start: the best by the data-parallel model, if its gain is worth the
// uncertainty of a batch that no job has run with.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/model/data_parallel/best_batch.h"
#include "lib/model/data_parallel/data_parallel.h"

namespace rubato {

/// Standard deviations of the change that count against another batch. Chosen on generated jobs
/// (docs/results/models.md, "Trying another batch").
inline constexpr double kBatchDoubt = 0.25;
/// The smallest relative gain for which another batch is taken.
inline constexpr double kBatchGain = 0.01;

struct BatchQuestion {
  BatchRange range;  ///< `max_local` bounds how far a try may go
  int gpus = 1;
  int nodes = 1;
  std::int64_t present = 1;  ///< the batch that the job runs with if no other is chosen
  /// Gradient noise of the work left, samples; none: all samples count.
  std::optional<double> noise;
  double doubt = kBatchDoubt;
};

struct BatchForecast {
  std::int64_t batch = 0;  ///< global
  double seconds = 0;      ///< per iteration
  double stddev = 0;       ///< of ln(seconds)
  double log_goodput = 0;  ///< ln of efficient samples/s
  /// ln of samples/s over those at the present batch; none if it cannot run there.
  std::optional<double> gain{};
  double gain_stddev = 0;  ///< what the change adds to `stddev`
};

/// The batch whose goodput, less `doubt` standard deviations of the change, is highest, among the
/// present one, the best of the mean forecast and batches between them. The present one unless
/// another gains kBatchGain. nullopt if the model has no forecast.
[[nodiscard]] std::optional<BatchForecast> choose_batch(const DataParallelModel& model,
                                                        const BatchQuestion& question);

}  // namespace rubato

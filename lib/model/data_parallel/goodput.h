// SPDX-License-Identifier: GPL-2.0-or-later
// Statistical efficiency: how much the samples of a larger batch count. Uses the gradient noise
// that a job reports (`noise` of rubato!report, rubato-hints(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "lib/model/data_parallel/best_batch.h"

namespace rubato {

/// Maximum noise scale, samples; higher values are capped.
inline constexpr double kMaxNoise = 1e15;

/// Progress per sample at `batch` relative to that at `reference`: (noise + reference) / (noise +
/// batch), at most 1 for batch >= reference. `noise` is the gradient noise scale in samples: the
/// trace of the covariance of a sample's gradient over the squared length of their mean (McCandlish
/// et al., An Empirical Model of Large-Batch Training, 2018, B_simple; Qiao et al., Pollux, OSDI
/// 2021, section 3.1). With no noise a larger batch adds no progress. nullopt for invalid input:
/// below 0, not finite, a batch not above 0.
[[nodiscard]] std::optional<double> statistical_efficiency(double noise, double batch,
                                                           double reference);

/// The noise scale, samples. `variance`: of the mean gradient of `batch` samples, summed over its
/// parts; `square`: squared length of the gradient. The maximum if the gradient is only noise.
/// nullopt for invalid input.
[[nodiscard]] std::optional<double> noise_scale(double variance, double square, double batch);

/// The noise estimate from a job's reports, oldest first: the median of the last `last` valid ones.
/// Single reports vary much, and noise grows slowly during training. nullopt without a valid
/// report.
[[nodiscard]] std::optional<double> believed_noise(std::span<const double> reports,
                                                   std::size_t last = 5);

/// The batch with the highest goodput: samples/s times efficiency (reference: range.least). nullopt
/// for a job without reported noise or range; use best_batch for it.
[[nodiscard]] std::optional<BatchChoice> best_goodput(const BatchRange& range, int gpus,
                                                      const IterationSeconds& seconds,
                                                      std::optional<double> noise);

}  // namespace rubato

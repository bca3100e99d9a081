// SPDX-License-Identifier: GPL-2.0-or-later
// Statistical efficiency: how much the samples of a larger batch count, from the gradient noise
// that a job reports (`noise` of rubato!report, rubato-hints(7)).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "lib/model/data_parallel/best_batch.h"

namespace rubato {

/// Noise scales above this, samples, count as this.
inline constexpr double kMaxNoise = 1e15;

/// Progress per sample at `batch` relative to that at `reference`: (noise + reference) /
/// (noise + batch), at most 1 for batch >= reference. `noise` is the gradient noise scale in
/// samples: the trace of the covariance of a sample's gradient over the squared length of their
/// mean (McCandlish et al., An Empirical Model of Large-Batch Training, 2018, B_simple; Qiao et
/// al., Pollux, OSDI 2021, section 3.1). With no noise a larger batch teaches nothing more. None
/// for invalid input: below 0, not finite, a batch not above 0.
[[nodiscard]] std::optional<double> statistical_efficiency(double noise, double batch,
                                                           double reference);

/// The noise scale, samples, from `variance`, that of the mean gradient of `batch` samples summed
/// over its parts, and `square`, the squared length of the gradient. Where nothing but noise was
/// seen, the largest. None for invalid input.
[[nodiscard]] std::optional<double> noise_scale(double variance, double square, double batch);

/// What to believe of a job's reports, oldest first: the median of the last `last` valid ones,
/// since single estimates jump and noise grows slowly while a job trains. None without a valid one.
[[nodiscard]] std::optional<double> believed_noise(std::span<const double> reports,
                                                   std::size_t last = 5);

/// The batch with the most goodput, samples/s times efficiency (reference: range.least). None for a
/// job that reports no noise or gave no range, which has no goodput: for it best_batch stands.
[[nodiscard]] std::optional<BatchChoice> best_goodput(const BatchRange& range, int gpus,
                                                      const IterationSeconds& seconds,
                                                      std::optional<double> noise);

}  // namespace rubato

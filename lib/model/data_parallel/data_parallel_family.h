// SPDX-License-Identifier: GPL-2.0-or-later
// The straight lines of data-parallel step time, and their bounds. Internal to data_parallel.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "lib/model/data_parallel/data_parallel.h"
#include "lib/model/numeric/bounded_fit.h"

namespace rubato::data_parallel {

/// Logarithms of these values: seconds of a pass at the reference batch; its fixed part over its
/// growing part; synchronisation in a node over the pass; its growth per GPU over itself;
/// synchronisation across nodes over that in a node; its growth; overlap. Crowding has no
/// logarithm. All but the first are ratios, so that the prior suits slow and fast jobs.
inline constexpr int kParameters = 8;
using Logs = std::array<double, kParameters>;

/// Mean and standard deviation of a prior.
struct Belief {
  double mean = 0;
  double stddev = 1;
};

/// The prior of each logarithm; that of the first is around `pass`, the typical measured pass,
/// seconds.
[[nodiscard]] std::array<Belief, kParameters> beliefs(double pass);

/// Bounds for the optimiser, from the prior.
[[nodiscard]] std::vector<FitParameter> bounds(const std::array<Belief, kParameters>& beliefs);

[[nodiscard]] DataParallelFamily family_of(const Logs& logs, double reference_batch);

/// Seconds of a pass.
[[nodiscard]] double pass_time(const DataParallelFamily& family,
                               const DataParallelConfiguration& at);
/// Seconds of synchronisation: 0 on one GPU.
[[nodiscard]] double sync_time(const DataParallelFamily& family, int gpus, int nodes);
/// (pass^overlap + sync^overlap)^(1/overlap), without overflow.
[[nodiscard]] double joined(double pass, double sync, double overlap);
/// d ln(joined) / d ln(pass), in 0..1; the derivative by sync is 1 minus it.
[[nodiscard]] double pass_weight(double pass, double sync, double overlap);

}  // namespace rubato::data_parallel

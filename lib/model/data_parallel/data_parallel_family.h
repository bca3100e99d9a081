// SPDX-License-Identifier: GPL-2.0-or-later
// The straight lines of data-parallel step time, and their bounds: inside of data_parallel.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "lib/model/data_parallel/data_parallel.h"
#include "lib/model/numeric/bounded_fit.h"

namespace rubato::data_parallel {

/// Logarithms of: seconds of a pass at the reference batch; its fixed share over the one that
/// grows; synchronisation in a node over the pass; its growth a GPU over itself; synchronisation
/// across nodes over that in a node; its growth; overlap. And, as it is, crowding. All are ratios
/// but the first, so that beliefs hold for slow and fast jobs alike.
inline constexpr int kParameters = 8;
using Logs = std::array<double, kParameters>;

/// A believed value and how widely it spreads.
struct Belief {
  double mean = 0;
  double stddev = 1;
};

/// Of each logarithm; that of the first is around `pass`, the typical measured pass, seconds.
[[nodiscard]] std::array<Belief, kParameters> beliefs(double pass);

/// For the optimiser, from the beliefs.
[[nodiscard]] std::vector<FitParameter> bounds(const std::array<Belief, kParameters>& beliefs);

[[nodiscard]] DataParallelFamily family_of(const Logs& logs, double reference_batch);

/// Seconds of a pass.
[[nodiscard]] double pass_time(const DataParallelFamily& family,
                               const DataParallelConfiguration& at);
/// Seconds of synchronisation: 0 on one GPU.
[[nodiscard]] double sync_time(const DataParallelFamily& family, int gpus, int nodes);
/// (pass^overlap + sync^overlap)^(1/overlap), without overflow.
[[nodiscard]] double joined(double pass, double sync, double overlap);
/// d ln(joined) / d ln(pass), in 0..1; that of sync is the rest.
[[nodiscard]] double pass_weight(double pass, double sync, double overlap);

}  // namespace rubato::data_parallel

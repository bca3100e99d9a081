// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that get GPUs so that their reports show how fast their job type is there.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/policy/algorithms/configuration_table.h"
#include "lib/policy/trade.h"

namespace rubato {

/// A forecast is unsure enough to be explored from this standard deviation on.
inline constexpr double kExplorationStddev = .2;
/// What knowing gains, in standard deviations of the forecast: the mean of a normal deviate where
/// it is positive, 1/sqrt(2 pi). So much faster, on average, is the better one of two GPU types
/// that seem equal.
inline constexpr double kKnowingGains = .3989;
/// The time over which ExplorationBudget counts, seconds.
inline constexpr Seconds kExplorationTime = 86400;

/// A row at which a job would show how fast its profile is.
struct ExplorationRow {
  std::size_t table = 0;
  std::size_t row = 0;
  double bonus = 0;  ///< what that is worth to the jobs to come, in GPU-seconds of a mean GPU
  double cost = 0;   ///< what the row takes beyond the cheapest one, in GPU-seconds of a mean GPU
};

/// The rows that are explored in this round: for each profile and GPU type the unsure row whose
/// bonus exceeds its cost the most, first of a waiting job, else of a running one. The bonus is
/// what the other jobs of the profile that wait, and as many as have ended, are expected to gain,
/// each as long as the median one in the market. That a measurement is worth what later decisions
/// gain by it is the value of information (Howard, IEEE Transactions on Systems Science and
/// Cybernetics 2, 1966).
///
/// Only jobs that consent to restarts explore, since they leave by one what turns out to be slow;
/// none at a cap on restarts (restarts.h), and none of a guaranteed QOS. One job of a profile
/// explores a GPU type at a time: none while others run there, or while one that left it again
/// within a day is in the cluster. One that was sent there, and still waits, is sent again. The
/// costs of the last day and of these rows, as forecast, are at most ExplorationBudget of the GPU
/// time of a day. Sorted by table, then row. `relative`: price of each GPU type, by TypeId.
[[nodiscard]] std::vector<ExplorationRow> exploration_rows(
    const RoundInput& input, const std::vector<ConfigurationTable>& tables,
    const Capacity& capacity, const std::vector<double>& relative);

/// The explorations of the last day.
[[nodiscard]] std::vector<Exploration> recent_explorations(const Memory& memory, Seconds now);

/// These, with those of `rows` that cost anything and whose jobs `trades` starts or changes so.
[[nodiscard]] std::vector<Exploration> explorations_after(
    const RoundInput& input, const std::vector<ConfigurationTable>& tables,
    const Capacity& capacity, const std::vector<ExplorationRow>& rows, const Trades& trades);

}  // namespace rubato

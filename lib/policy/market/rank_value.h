// SPDX-License-Identifier: GPL-2.0-or-later
// What the end of a job is worth, by the jobs that it delays.
#pragma once

#include <vector>

namespace rubato {

/// How much the age of a job counts: the aim is the sum of completion times to the power of one
/// more than this. 0: their mean.
inline constexpr double kAgePower = .75;
/// How much the rank counts. For speeds that grow as g^p with g GPUs, the value of work in the
/// optimal schedule of heSRPT (Berg, Vesilo & Harchol-Balter, Performance Evaluation 144, 2020)
/// grows about as the number of jobs at least as long to the power of p. Where all work is known
/// the training shapes do not distinguish .4 from 1; where none is, less is better (settings.csv).
inline constexpr double kRankPower = .5;

/// A job surely comes before another if its quotient of weight and area is larger by more than this
/// in logarithms. Between -kRankBlur and kRankBlur the probability grows evenly.
inline constexpr double kRankBlur = .7;

/// A job as its rank sees it.
struct RankedJob {
  double age = 0;      ///< seconds since its arrival, at least 0
  double seconds = 0;  ///< that it needs at its fastest, above 0
  double area = 0;     ///< GPU-seconds of its cheapest way to end, in units of a mean GPU, above 0
  double weight = 1;   ///< of its account, above 0
};

/// The value of each job's end, above 0, in GPU-seconds. Divided by the seconds that a row still
/// needs it is the value of that row.
///
/// Smith's rule (Naval Research Logistics Quarterly 3, 1956) orders the jobs by weight over area.
/// A job's value is its area times the weight, to the power of `power`, of the jobs that it
/// delays: those with the smaller quotient, and its own. Ranks alone count, so that wrong forecasts
/// change little. A job whose quotient is near counts in part (kRankBlur), by half if it is equal:
/// otherwise the values of jobs that are alike would jump with each report. All times and areas
/// multiplied by one factor multiply the values by it.
[[nodiscard]] std::vector<double> rank_values(const std::vector<RankedJob>& jobs,
                                              double power = kRankPower);

}  // namespace rubato

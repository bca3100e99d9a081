// SPDX-License-Identifier: GPL-2.0-or-later
// The rates that a fit uses: what the store has added up, and reports that are not in it yet or
// never will be.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/model/throughput.h"
#include "lib/store/plausibility.h"
#include "lib/store/summary.h"

namespace rubato {

/// A report on its way into the store.
struct HeardSample {
  store::Sample sample;
  /// Its place among the records that the store accepted, from 1; 0: the store did not take it.
  std::int64_t number = 0;
};

/// Used by one thread.
class RateBook {
 public:
  /// Profile, GPU type, GPUs.
  using Place = std::tuple<ProfileName, std::string, int>;
  /// Most places remembered of reports that no store has; of more, those with most reports.
  static constexpr std::size_t kMostPlaces = 4 * ThroughputModel::kMostCells;

  /// Most reports that wait for the store; of more, the oldest count as never taken.
  static constexpr std::size_t kMostWaiting = 100'000;

  [[nodiscard]] static Place place_of(const store::Sample& sample);

  /// Judges the report as the store will; what is implausible counts nowhere.
  void hear(HeardSample heard);
  /// The store has dealt with its first `number` records: what `summarised` gets next has them.
  void settle(std::int64_t number);
  void summarised(const std::vector<store::SummaryRow>& rows);

  /// One cell a place: the mean of the logarithms, weighted by reports. Sorted by place.
  [[nodiscard]] std::vector<RateCell> cells() const;

 private:
  /// Reports of a place, and the sum of the logarithms of their rates.
  struct Sum {
    std::int64_t samples = 0;
    double logs = 0;
  };
  using Sums = std::map<Place, Sum>;

  static void add(Sums& sums, const Place& place, std::int64_t samples, double rate);
  void judge_anew_sometimes();
  void keep(const store::Sample& sample);

  store::Plausibility judge_;
  std::size_t judged_ = 0;
  std::deque<HeardSample> waiting_;  ///< plausible, in order of their numbers
  Sums kept_;                        ///< of reports that the store did not take
  Sums stored_;
};

/// How much two lists of cells differ, each sorted by place.
enum class RateChange {
  kSame,     ///< not worth a fit
  kSome,     ///< a rate moved by a hundredth, or a place has half as many reports again
  kDecides,  ///< a place came or went, or a rate moved by a twentieth: plans may change
};
[[nodiscard]] RateChange rate_change(const std::vector<RateCell>& before,
                                     const std::vector<RateCell>& now);

}  // namespace rubato

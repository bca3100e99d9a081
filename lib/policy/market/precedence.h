// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that go before others, whatever these are worth.
#pragma once

#include <vector>

#include "lib/policy/market/allocation.h"
#include "lib/policy/market/market.h"

namespace rubato {

/// From this place on all classes are one: each costs a market of its own.
inline constexpr int kMostClasses = 32;

/// A job of the market as its class sees it.
struct ClassedJob {
  int place = 0;       ///< of its class, from 0, which goes first
  bool runs = false;   ///< it holds GPUs now
  bool keeps = false;  ///< it never loses its last row; it runs
};

/// As allocate(), but no job takes what one of a class before it gets. `jobs` goes with
/// `market.jobs`.
///
/// The classes enter the market one after another, running jobs at once. A job that has a row when
/// the next class enters keeps one, but not necessarily the same: what it has beyond its smallest
/// row goes by value. So of the jobs of the first class the same ones have a row as if those of
/// later classes did not wait. A job that `keeps` has a row before all others. A running job gives
/// way to a waiting one of a class before it by value alone, as inside of a class. The prices are
/// those of the market without classes.
[[nodiscard]] Allocation allocate_by_class(const Market& market,
                                           const std::vector<ClassedJob>& jobs,
                                           int passes = kSearchPasses);

}  // namespace rubato

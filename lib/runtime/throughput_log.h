// SPDX-License-Identifier: GPL-2.0-or-later
// The reports that a fit uses: what the store has, and what is not in it yet or never will be.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/throughput/learner.h"
#include "lib/store/plausibility.h"
#include "lib/store/reader.h"
#include "lib/store/summary.h"

namespace rubato {

/// A report on its way into the store.
struct PendingSample {
  store::Sample sample;
  /// Its place among the records that the store accepted, from 1; 0: the store did not take it.
  std::int64_t number = 0;
};

/// Used by one thread.
class ThroughputLog {
 public:
  /// Profile, GPU type, GPUs.
  using ConfigurationKey = std::tuple<ProfileName, std::string, int>;
  /// Most reports remembered that no store has; of more, the last ones.
  static constexpr std::size_t kMaxKept = 20'000;
  /// Most reports that wait for the store; of more, the oldest count as never taken.
  static constexpr std::size_t kMaxWaiting = 100'000;

  explicit ThroughputLog(LearnerRules rules = {}) : rules_(rules), learner_(rules) {}

  [[nodiscard]] static ConfigurationKey configuration_of(const store::Sample& sample);

  /// Judges the report as the store will; what is implausible counts nowhere.
  void add_sample(PendingSample heard);
  /// The store has dealt with its first `number` records: a `restore` that comes next has them.
  void mark_stored(std::int64_t number);
  /// Takes what the store has, in the order in which it was written, in place of what came before;
  /// reports that it does not have yet stay. Errors of earlier forecasts stay too.
  [[nodiscard]] Result<void> restore(const store::Reader& reader,
                                     const std::set<std::string>& shared);
  /// Rows of other sites; the others are passed over.
  void set_imported(const std::vector<store::SummaryRow>& rows);
  /// Other rules hold from the next `restore` on.
  void set_rules(const LearnerRules& rules) { rules_ = rules; }

  [[nodiscard]] Learner& learner() { return learner_; }
  [[nodiscard]] const Learner& learner() const { return learner_; }
  [[nodiscard]] std::vector<ThroughputObservation> observations() const {
    return learner_.observations();
  }

 private:
  void rebuild_filter_when_due();
  void keep(store::Sample sample);

  LearnerRules rules_;
  Learner learner_;
  store::Plausibility judge_;
  std::size_t judged_ = 0;
  std::deque<PendingSample> waiting_;  ///< judged, in order of their numbers
  std::deque<store::Sample> kept_;     ///< judged, that the store did not take
};

}  // namespace rubato

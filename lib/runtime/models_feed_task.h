// SPDX-License-Identifier: GPL-2.0-or-later
// The thread of a ModelsFeed: its inbox and its task. Included by files of ModelsFeed only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/model/model_versions.h"
#include "lib/runtime/models_feed.h"
#include "lib/runtime/throughput_log.h"
#include "lib/store/reader.h"
#include "lib/store/summary.h"

namespace rubato {

/// Equal, with no warning of an exact comparison.
[[nodiscard]] inline bool same_value(double a, double b) { return !(a < b) && !(b < a); }

/// What the thread hands to its owner.
struct ModelsFeed::Outbox {
  Mutex mutex;
  std::function<void()> wake RUBATO_GUARDED_BY(mutex);  ///< empty after stop()
  std::shared_ptr<const Models> latest RUBATO_GUARDED_BY(mutex);
  std::shared_ptr<const Learning> learning RUBATO_GUARDED_BY(mutex) =
      std::make_shared<const Learning>();
};

/// Merges the offers: settings of the latest, reports of all.
class ModelsFeed::FeedInbox {
 public:
  using Offer = FeedOffer;
  using ConfigurationKey = ThroughputLog::ConfigurationKey;
  static constexpr bool kDrain = false;

  struct Outcome {
    std::set<ConfigurationKey> configurations;  ///< with observations in the last fit
    SteadyTime not_before;
    SteadyTime urgent_not_before;
  };

  void put(FeedOffer offer);
  [[nodiscard]] std::optional<SteadyTime> due() const;
  [[nodiscard]] FeedOffer take();
  void finish(Outcome outcome);

  /// Number of the last urgent offer.
  [[nodiscard]] std::uint64_t urgent() const { return urgent_; }
  /// Number of the last offer that is in the latest fit.
  [[nodiscard]] std::uint64_t handled() const { return handled_; }

 private:
  FeedOffer next_;
  std::set<ConfigurationKey> configurations_;  ///< in a fit so far
  std::set<ConfigurationKey> fresh_;           ///< of urgent reports since the last fit
  std::uint64_t offered_ = 0;                  ///< number of the last offer with news
  std::uint64_t urgent_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t handled_ = 0;
  SteadyTime not_before_{};
  SteadyTime urgent_not_before_{};
};

/// Reads the store and fits. Used by its thread alone.
class ModelsFeed::Task {
 public:
  using Inbox = FeedInbox;
  using Outcome = FeedInbox::Outcome;

  Task(std::shared_ptr<const Clock> clock, std::shared_ptr<Outbox> outbox)
      : clock_(std::move(clock)), outbox_(std::move(outbox)) {}

  [[nodiscard]] Outcome work(FeedOffer offer);
  [[nodiscard]] Outcome failed(const char* what);

 private:
  /// Returns the error; "" without one.
  [[nodiscard]] std::string read_store(const FeedOffer& offer);
  [[nodiscard]] Result<void> restore(const FeedOffer& offer, const store::Reader& reader);
  void take_rules(const FeedOffer& offer);
  void take_rows(const FeedOffer& offer);
  void fit(const FeedOffer& offer);
  void fit_hyperparameters(const FeedOffer& offer);
  void publish(const ModelVersions::News& news);
  void measure_errors(const FeedOffer& offer);
  void note_learning();
  void note_merged();
  void report(const std::string& error);
  [[nodiscard]] Outcome outcome() const;

  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<Outbox> outbox_;
  ThroughputLog throughput_log_;
  std::optional<store::Summary> summary_;
  std::string database_;
  std::int64_t opened_ = 0;
  std::int64_t read_up_to_ = -1;
  std::int64_t changes_ = 0;  ///< of profiles, by admins
  std::int64_t orders_seen_ = 0;
  ModelVersions versions_;  ///< the latest is in the outbox
  std::set<std::string> shared_;
  SteadyTime whole_at_{};
  bool errors_known_ = false;
  std::size_t merged_said_ = 0;  ///< configurations without an own place in a fit, last logged
  LearnerRules rules_;
  SteadyTime began_{};     ///< the last work
  SteadyTime ended_at_{};  ///< its fit
  std::string last_error_;
};

}  // namespace rubato

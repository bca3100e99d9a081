// SPDX-License-Identifier: GPL-2.0-or-later
// The models that a round uses, fitted beside the loop.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/json_value.h"
#include "lib/config/config.h"
#include "lib/model/models.h"
#include "lib/runtime/models_feed.h"
#include "lib/runtime/recorder.h"
#include "plugin/sched/pacer.h"

namespace rubato {

/// Job types whose profile all accounts share.
[[nodiscard]] std::set<std::string> shared_job_types(const Config& config);

/// Used by the loop's thread alone.
class ModelSource {
 public:
  /// `wake` is called from another thread when a fit came that may change plans.
  ModelSource(std::shared_ptr<const Clock> clock, std::function<void()> wake)
      : clock_(std::move(clock)), wake_(std::move(wake)) {}

  /// Hands new reports and the state of the store to the thread that fits; starts it first.
  void feed(const Config& config, Recorder& recorder);
  /// Takes note of the model shapes of the jobs, for the next feed(). True if one is new.
  [[nodiscard]] bool note_jobs(const Snapshot& snapshot, const Config& config);
  /// Waits for the fit of what is urgent, until `deadline` or the loop is to stop.
  void await_fit(SteadyTime deadline, const Pacer& pacer) const;

  /// The last fit, or the configured speeds. Never null.
  [[nodiscard]] std::shared_ptr<const Models> models(const Config& config) const;
  /// Forecast errors and use of reports; null before the first feed().
  [[nodiscard]] std::shared_ptr<const Learning> learning() const;
  /// Sets the statistics about learning.
  void put_learning(JsonValue& out) const;

  /// Asks the thread to end and does not wait.
  void stop();
  /// Waits for the thread; logs one that is left behind at `deadline`.
  void wait(SteadyTime deadline);

 private:
  /// Observations in the last fit, whether rounds use it or not.
  [[nodiscard]] std::size_t learnt_observations() const;

  const std::shared_ptr<const Clock> clock_;
  const std::function<void()> wake_;
  std::unique_ptr<ModelsFeed> feed_;
  std::set<ProfileShape> shapes_;
};

}  // namespace rubato

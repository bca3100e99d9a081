// SPDX-License-Identifier: GPL-2.0-or-later
// Fits models to measurements, in a thread of its own: the time of a fit grows with the cube of the
// observations, and reading the store waits for a disk. The loop takes the last finished fit.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/model/models.h"
#include "lib/runtime/throughput_log.h"

namespace rubato {

template <typename Task>
class BackgroundWorker;

/// The inputs of a fit, as the loop knows them.
struct FeedOffer {
  std::map<std::string, double> speeds;  ///< relative speeds of `GpuType=` lines: the prior
  std::map<std::string, std::int64_t> gpu_memory;  ///< MiB per GPU, where such a line gives it
  std::map<std::string, double> gpu_links;         ///< GB/s per GPU in a node, likewise
  std::set<std::string> shared;                    ///< job types that all accounts share
  std::string database;                            ///< rubato.db; "" where there is none to read
  std::int64_t opened = 0;           ///< how often: another number, perhaps another file
  std::int64_t settled = 0;          ///< records that the store has dealt with
  std::int64_t orders = 0;           ///< orders about profiles that it has done
  std::vector<PendingSample> heard;  ///< since the last offer
  Seconds warm_up = 0;               ///< `WarmUp`
  double half_life = 0;              ///< `ModelHalfLife`, seconds; 0: nothing is forgotten
  bool bounds_unproven = true;       ///< see LearnerRules
  /// Of the jobs in the queue and of those that run: their execution plans are fitted before a
  /// round asks for them.
  std::set<ProfileShape> shapes{};
};

/// Forecast errors on reports, and the use of reports.
struct Learning {
  ForecastErrors errors;
  std::map<std::string, std::int64_t> uses;  ///< reports heard since the start, see Use
  std::int64_t refused_fits = 0;
  std::map<ForecastErrors::Key, RefusedFits> refusals;
};

class ModelsFeed {
 public:
  /// Minimum time between two fits. kUrgentInterval holds for a report of a new configuration and
  /// for other speeds. Both grow with the time of a fit: the thread uses at most a twentieth of a
  /// processor.
  static constexpr auto kInterval = std::chrono::milliseconds(1000);
  static constexpr auto kUrgentInterval = std::chrono::milliseconds(50);
  /// Interval of full reads, which drop what the store has forgotten.
  static constexpr auto kWhole = std::chrono::hours(1);
  /// Maximum number of reports that wait for the thread. Later ones come from the store.
  static constexpr std::size_t kMaxWaiting = 100'000;

  /// `wake` is called from the thread when a fit came that may change plans, never after stop().
  ModelsFeed(std::shared_ptr<const Clock> clock, std::function<void()> wake);
  ~ModelsFeed();
  ModelsFeed(const ModelsFeed&) = delete;
  ModelsFeed& operator=(const ModelsFeed&) = delete;

  /// Cheap.
  void offer(FeedOffer offer);
  /// The last finished version; null before the first. Its `throughput_model()` is null while
  /// nothing was measured.
  [[nodiscard]] std::shared_ptr<const Models> latest() const;
  /// Never null.
  [[nodiscard]] std::shared_ptr<const Learning> learning() const;
  /// Waits until all urgent offers so far are in `latest()`: the first one, other speeds, a new
  /// configuration. False at `deadline`.
  bool wait_urgent(SteadyTime deadline) const;

  /// Asks the thread to end, and does not wait.
  void stop();
  /// Waits for it until `deadline`; false if it is left behind.
  bool wait(SteadyTime deadline);

 private:
  struct Outbox;
  class FeedInbox;
  class Task;

  std::shared_ptr<Outbox> outbox_;  ///< the thread uses it too
  std::unique_ptr<BackgroundWorker<Task>> worker_;
};

}  // namespace rubato

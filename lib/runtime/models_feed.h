// SPDX-License-Identifier: GPL-2.0-or-later
// Fits what was measured, in a thread of its own: a fit takes the cube of what it is made of, and
// reading the store waits for a disk. The loop takes the last finished one.
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

/// What the loop knows about what may be learnt from.
struct FeedOffer {
  std::map<std::string, double> speeds;  ///< `GpuType=` lines: what is believed beforehand
  std::map<std::string, std::int64_t> gpu_memory;  ///< MiB of a GPU, where such a line says it
  std::set<std::string> shared;                    ///< job types that all accounts share
  std::string database;                            ///< rubato.db; "" where there is none to read
  std::int64_t opened = 0;           ///< how often: another number, perhaps another file
  std::int64_t settled = 0;          ///< records that the store has dealt with
  std::int64_t orders = 0;           ///< orders about profiles that it has done
  std::vector<PendingSample> heard;  ///< since the last offer
  Seconds warm_up = 0;               ///< `WarmUp`
  double half_life = 0;              ///< `ModelHalfLife`, seconds; 0: nothing is forgotten
};

/// How well it was foreseen what jobs reported, and what became of the reports.
struct Learning {
  ForecastErrors errors;
  std::map<std::string, std::int64_t> uses;  ///< reports heard since the start, see Use
  std::int64_t refused_fits = 0;
  std::map<ForecastErrors::Key, RefusedFits> refusals;
};

class ModelsFeed {
 public:
  /// Shortest time from one fit to the next; to one with a report of a place never seen, or with
  /// other speeds, the shorter one. Longer where reading and fitting take long, so that the thread
  /// never has more than a twentieth of a processor.
  static constexpr auto kInterval = std::chrono::milliseconds(1000);
  static constexpr auto kUrgentInterval = std::chrono::milliseconds(50);
  /// So often everything is read anew: what the store has forgotten goes.
  static constexpr auto kWhole = std::chrono::hours(1);
  /// Most reports that wait for the thread; of more, the later ones come with the next reading of
  /// the store.
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
  /// Waits until what was urgent in the offers so far (the first of all, other speeds, a place
  /// never seen) is in `latest()`; false at `deadline`.
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

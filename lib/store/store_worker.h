// SPDX-License-Identifier: GPL-2.0-or-later
// The writer thread of a Store. Included by its files only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/background_thread.h"
#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/store/session.h"
#include "lib/store/store.h"

namespace rubato::store {

/// What owner and thread share. The mutex is held for a few instructions at a time, never over I/O
/// and never while memory is asked for, except for a message.
struct Store::Shared {
  static constexpr std::size_t kMaxMessages = 64;

  Shared(StoreOptions given, std::shared_ptr<const Clock> time)
      : options(std::move(given)), clock(std::move(time)) {
    queue.reserve(options.queue_capacity);
  }

  void tell(std::string text, bool trouble = true) RUBATO_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    if (messages.size() < kMaxMessages) messages.push_back({std::move(text), trouble});
  }

  /// Waits for records, and then for a full batch. Returns early to look for orders.
  void wait_for_batch(MutexLock& lock) RUBATO_REQUIRES(mutex);
  [[nodiscard]] bool is_urgent() const RUBATO_REQUIRES(mutex) {
    return stopping || hurry || copy.has_value();
  }

  const StoreOptions options;
  const std::shared_ptr<const Clock> clock;

  mutable Mutex mutex;
  std::condition_variable work;  ///< for the thread
  std::condition_variable done;  ///< for flush and stop
  std::vector<AnyRecord> queue RUBATO_GUARDED_BY(mutex);
  SteadyTime first_at RUBATO_GUARDED_BY(mutex);  ///< arrival of the oldest record of the queue
  StoreStats stats RUBATO_GUARDED_BY(mutex);
  std::vector<StoreMessage> messages RUBATO_GUARDED_BY(mutex);
  std::optional<std::pair<std::string, unsigned>> copy RUBATO_GUARDED_BY(mutex);
  /// Do not wait for a fuller batch or for the next try.
  bool hurry RUBATO_GUARDED_BY(mutex) = false;
  bool stopping RUBATO_GUARDED_BY(mutex) = false;
  bool ended RUBATO_GUARDED_BY(mutex) = false;
};

/// The thread. It is no BackgroundWorker: it batches a bounded queue, retries a store that is off,
/// and serves flushes, copies and orders between two batches.
class Store::Worker {
 public:
  explicit Worker(std::shared_ptr<Shared> shared);

  /// Nothing leaves it: an exception here would end the process.
  void run() noexcept;

 private:
  void work();
  /// Out of memory, or an error in this code: the store stays off.
  void give_up(const char* what) noexcept;
  /// Waits for something to do and takes the queue if nothing is in hand. False: it is over. After
  /// `stopping` everything is tried once more, but not again what fails then.
  bool next();
  void open();
  /// Looked at before each batch, and each time that orders are looked for. What was in the old
  /// file is gone with it, so the new one is open before the next record comes.
  void reopen_if_replaced();
  void write();
  void retain_if_due();
  void copy_if_asked();
  /// Those that stand in the folder.
  void follow_orders();
  void set_ready();
  void turn_off(const StoreFailure& failure);
  void end(StoreState state);

  const std::shared_ptr<Shared> shared_;
  const StoreOptions& options_;
  std::unique_ptr<Session> session_;
  std::vector<AnyRecord> batch_;  ///< in hand: taken from the queue, not yet committed
  SteadyTime retry_at_;
  SteadyTime replaced_at_{};
  std::optional<Seconds> retained_at_;
  std::int64_t since_retained_ = 0;
  bool stop_seen_ = false;
};

}  // namespace rubato::store

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

/// State shared by owner and thread. The mutex is held only briefly: never during I/O and never
/// while allocating, except for a message.
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

  /// Waits for records, then for a full batch. Returns early to check for orders.
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
  SteadyTime first_at RUBATO_GUARDED_BY(mutex);  ///< arrival time of the oldest record in the queue
  StoreStats stats RUBATO_GUARDED_BY(mutex);
  std::vector<StoreMessage> messages RUBATO_GUARDED_BY(mutex);
  std::optional<std::pair<std::string, unsigned>> copy RUBATO_GUARDED_BY(mutex);
  /// Do not wait for a fuller batch or the next retry.
  bool hurry RUBATO_GUARDED_BY(mutex) = false;
  bool stopping RUBATO_GUARDED_BY(mutex) = false;
  bool ended RUBATO_GUARDED_BY(mutex) = false;
};

/// The thread. It is no BackgroundWorker: it batches a bounded queue, retries a store that is off,
/// and serves flushes, copies and orders between batches.
class Store::Worker {
 public:
  explicit Worker(std::shared_ptr<Shared> shared);

  /// Catches all exceptions: one here would end the process.
  void run() noexcept;

 private:
  void work();
  /// False after an exception; the store is then off until the next retry.
  bool try_work() noexcept;
  void recover(const char* what) noexcept;
  /// Waits for work and takes the queue if there is no batch. False: the thread must end. After
  /// `stopping`, everything is tried once more, but failures are not retried.
  bool next();
  /// False: a stop was asked for, and a try since then has failed.
  bool may_begin();
  void open();
  /// Called before each batch and before each check for orders. Records in the old file are lost,
  /// so open the new one before the next record.
  void reopen_if_replaced();
  void write();
  /// Deletes what is too old, and makes the daily backup.
  void retain_if_due();
  void copy_if_asked();
  /// Writes the heartbeat of the lock, and checks that no other host has it.
  void keep_lock();
  /// Carries out the orders in the folder.
  void follow_orders();
  void set_ready();
  void turn_off(const StoreFailure& failure);
  void end(StoreState state);

  const std::shared_ptr<Shared> shared_;
  const StoreOptions& options_;
  std::unique_ptr<Session> session_;
  std::vector<AnyRecord> batch_;  ///< taken from the queue, not committed yet
  SteadyTime retry_at_;
  SteadyTime replaced_at_{};
  std::optional<Seconds> retained_at_;
  std::int64_t since_retained_ = 0;
  bool stop_seen_ = false;
  bool begun_ = false;  ///< it was opened, or could not be, once
  LockWatch watch_;
};

}  // namespace rubato::store

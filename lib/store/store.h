// SPDX-License-Identifier: GPL-2.0-or-later
// The store as the scheduler sees it: it takes records and never waits for a disk.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/background_thread.h"
#include "lib/base/clock.h"
#include "lib/store/options.h"
#include "lib/store/records.h"

namespace rubato::store {

enum class StoreState {
  kStarting,  ///< not open yet
  kReady,
  kOff,  ///< cannot be opened or written; retried every `retry_interval`
  kStopped,
  kAbandoned,  ///< its thread did not end in time
};

[[nodiscard]] const char* to_string(StoreState);

/// Counts since the start. Every push is accepted or dropped. Every accepted record is written,
/// rejected, lost or waiting: pushed = accepted + dropped, accepted = written + rejected + lost +
/// waiting.
struct StoreStats {
  StoreState state = StoreState::kStarting;
  std::string trouble;       ///< why it is off; "" if it is not
  std::string journal_mode;  ///< "wal" or "delete", once it was ready
  std::int64_t accepted = 0;
  std::int64_t dropped = 0;   ///< the queue was full, or the store stopped
  std::int64_t written = 0;   ///< on disk; including flagged ones
  std::int64_t flagged = 0;   ///< implausible samples among them
  std::int64_t rejected = 0;  ///< unstorable records
  std::int64_t lost = 0;      ///< accepted, but not written when it stopped
  std::int64_t waiting = 0;
  std::int64_t batches = 0;   ///< transactions committed
  std::int64_t failures = 0;  ///< opens and transactions that failed
  std::int64_t removed = 0;   ///< by retention
  std::int64_t copies = 0;
  std::int64_t orders = 0;  ///< of admins, done or refused
  std::int64_t opened = 0;  ///< number of opens; each may open a new file

  bool operator==(const StoreStats&) const = default;
};

/// A message for the log.
struct StoreMessage {
  std::string text;      ///< one sentence
  bool trouble = false;  ///< a problem; else information
};

/// One writer thread with a bounded queue. All calls are thread-safe, take constant time and never
/// wait for a file, except `flush` and `stop`, whose wait is bounded.
///
/// The thread owns all data that it uses, and calls only the owner's clock. It can thus be
/// abandoned when a disk hangs. The code of this library must then stay loaded.
class Store {
 public:
  /// Starts the thread, which opens the store. A store that cannot be opened is off, gives the
  /// reason in `stats()` and retries. Throws std::system_error if no thread can be made.
  Store(StoreOptions options, std::shared_ptr<const Clock> clock);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  /// Calls `stop()`.
  ~Store();

  /// Queues a record. False if it was dropped; drops are counted.
  bool push(AnyRecord entry);

  [[nodiscard]] StoreStats stats() const;

  /// Messages since the last call; at most 64 are kept. The owner logs them.
  [[nodiscard]] std::vector<StoreMessage> take_messages();

  /// Requests a consistent copy of the database at `path` with file mode `mode` (see
  /// Session::copy_to). The thread makes it soon. Replaces a request that was not served yet.
  void request_copy(std::string path, unsigned mode = 0600);

  /// Waits until everything pushed before is written or rejected; a store that is off retries at
  /// once. False after `at_most`.
  [[nodiscard]] bool flush(std::chrono::milliseconds at_most);

  /// Writes the queue and ends the thread. After `at_most` it abandons the thread and returns
  /// false. Later calls do not wait; they return whether the thread has ended.
  bool stop(std::chrono::milliseconds at_most = std::chrono::milliseconds(500));

 private:
  struct Shared;
  class Worker;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<BackgroundThread> thread_;
};

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// The store as the scheduler sees it: records go in, and nothing waits for a disk.
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
  kOff,  ///< cannot be opened or written; tried again every `retry_interval`
  kStopped,
  kAbandoned,  ///< its thread did not end in time and is left to itself
};

[[nodiscard]] const char* to_string(StoreState);

/// Counts since the start. Every push is accepted or dropped, and every accepted record is written,
/// rejected, lost or waiting: pushed = accepted + dropped, accepted = written + rejected + lost +
/// waiting.
struct StoreStats {
  StoreState state = StoreState::kStarting;
  std::string trouble;       ///< why it is off; "" when it is not
  std::string journal_mode;  ///< "wal" or "delete", when it was ready
  std::int64_t accepted = 0;
  std::int64_t dropped = 0;   ///< the queue was full, or the store stopped
  std::int64_t written = 0;   ///< on the disk; flagged ones included
  std::int64_t flagged = 0;   ///< implausible samples among them
  std::int64_t rejected = 0;  ///< what no database can hold
  std::int64_t lost = 0;      ///< accepted, and still not written when it stopped
  std::int64_t waiting = 0;
  std::int64_t batches = 0;   ///< transactions committed
  std::int64_t failures = 0;  ///< opens and transactions that failed
  std::int64_t removed = 0;   ///< by the retention
  std::int64_t copies = 0;
  std::int64_t orders = 0;  ///< of admins, done or refused
  std::int64_t opened = 0;  ///< how often; each time it may be another file

  bool operator==(const StoreStats&) const = default;
};

/// What a person should know.
struct StoreMessage {
  std::string text;      ///< one sentence
  bool trouble = false;  ///< something is wrong; else it is news
};

/// One writer thread behind a bounded queue. All calls are safe from any thread, take constant time
/// and wait for no file, except `flush` and `stop`, whose wait is bounded.
///
/// The thread keeps what it uses alive by itself and calls nothing of the owner but the clock, so
/// that it can be left behind when a disk hangs. Code of this library must then stay loaded.
class Store {
 public:
  /// Starts the thread, which opens the store. Never fails: a store that cannot be opened is off,
  /// says why in `stats()` and tries again.
  Store(StoreOptions options, std::shared_ptr<const Clock> clock);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  /// `stop()`.
  ~Store();

  /// Hands a record over. False when it was dropped, which is counted.
  bool push(AnyRecord entry);

  [[nodiscard]] StoreStats stats() const;

  /// Those since the last call; at most 64 are kept. An owner writes them to its log.
  [[nodiscard]] std::vector<StoreMessage> take_messages();

  /// Asks for a consistent copy of the database under `path` with file mode `mode` (see
  /// Session::copy_to), made soon by the thread. A request that was not yet served is replaced.
  void request_copy(std::string path, unsigned mode = 0600);

  /// Waits until everything pushed before is written or rejected; a store that is off tries at
  /// once. False after `at_most`.
  [[nodiscard]] bool flush(std::chrono::milliseconds at_most);

  /// Writes what waits and ends the thread. After `at_most` the thread is abandoned: false. Later
  /// calls do not wait, and say whether it has ended by then.
  bool stop(std::chrono::milliseconds at_most = std::chrono::milliseconds(500));

 private:
  struct Shared;
  class Worker;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<BackgroundThread> thread_;  ///< null if it could not be made
};

}  // namespace rubato::store

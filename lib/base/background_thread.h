// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that its owner can leave behind.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/mutex.h"
#include "lib/base/thread.h"

namespace rubato {

struct ThreadOptions {
  std::string name;  ///< at most 15 bytes, for `top -H` and debuggers; "" keeps the creator's
  int niceness = 0;  ///< added to that of the process, for this thread alone
};

/// Runs a function once. The function keeps what it uses alive, so that a thread whose disk hangs
/// can be left behind; this code must then stay loaded. The thread gets no signal: slurmctld
/// handles its signals in a thread of its own.
class BackgroundThread {
 public:
  /// An exception that leaves `body` is logged and ends the thread. Throws std::system_error if no
  /// thread can be made.
  BackgroundThread(ThreadOptions options, std::function<void()> body);
  /// Joins a thread that has ended and leaves any other behind. Does not wait.
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Waits until the thread has ended; false if it runs at `deadline`.
  bool wait_until(const Clock& clock, SteadyTime deadline);

 private:
  struct Ending {
    Mutex mutex;
    std::condition_variable changed;
    bool ended RUBATO_GUARDED_BY(mutex) = false;
  };

  std::shared_ptr<Ending> ending_;
  Thread thread_;
};

/// Logs that a task of a thread failed `what` for the `failures`-th time: at the first failure and
/// at every power of two. Allocates nothing.
void log_task_failure(std::uint64_t failures, const char* what) noexcept;

}  // namespace rubato

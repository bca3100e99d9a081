// SPDX-License-Identifier: GPL-2.0-or-later
// std::mutex and its lock with the attributes that clang's thread-safety analysis needs.
#pragma once

#include <mutex>

#include "lib/base/thread_annotations.h"

namespace rubato {

class RUBATO_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a Mutex from its construction to its destruction, except between unlock() and lock().
class RUBATO_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) RUBATO_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() RUBATO_UNLOCKS() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() RUBATO_UNLOCKS() { lock_.unlock(); }
  void lock() RUBATO_ACQUIRE() { lock_.lock(); }

  /// For a condition variable, whose wait releases the mutex and takes it again.
  [[nodiscard]] std::unique_lock<std::mutex>& native() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// A thread on a stack of its own.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <functional>

namespace rubato {

/// What std::thread is, but that the stack is mapped here and given back when the thread is joined.
///
/// glibc keeps the stacks of ended threads, 40 MiB at most, and unmaps the oldest when another one
/// comes. slurmctld 22.05 joins its scheduler's thread twice when a backup has returned control
/// twice (main_sched_fini in slurmctld.c; the second time it reads a handle in the old stack).
/// That does no harm while the old stack is kept, and ends slurmctld once it is unmapped. Threads
/// on stacks of their own push no stack of Slurm out.
class Thread {
 public:
  /// No thread.
  Thread() = default;
  /// Runs `body` in a new thread. Throws std::system_error if there is no memory for the stack or
  /// no thread can be made; an exception that leaves `body` ends the process.
  explicit Thread(std::function<void()> body);
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&& other) noexcept;
  /// Ends the process if the thread was neither joined nor detached.
  ~Thread();

  [[nodiscard]] bool joinable() const { return stack_ != nullptr; }
  void join();
  /// Leaves the thread behind. A thread cannot unmap the stack that it runs on: the next Thread
  /// unmaps it, if this one has ended by then.
  void detach() noexcept;

 private:
  pthread_t handle_{};
  void* stack_ = nullptr;  ///< beginning of the mapping; null without a thread
};

/// Bytes of a thread's stack. Only pages that are used take memory.
inline constexpr std::size_t kThreadStackBytes = std::size_t{8} << 20U;

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's locks, held for a scope and timed.
#pragma once

#include "plugin/slurm/slurm_headers.h"

namespace rubato {

enum class LockKind {
  kLook,  ///< read conf, job, node, part, fed
  kAct,   ///< read conf, write job and node, read part and fed: what schedule() takes
};

/// Longest and total hold of slurmctld's locks by the loop.
struct LockTimes {
  std::uint64_t holds = 0;
  double total_ms = 0;
  double longest_ms = 0;
  double last_ms = 0;
};

/// Takes the locks, unless slurmctld is shutting down; look at `held()`.
///
/// While it holds them it counts as one of slurmctld's server threads: at SIGTERM slurmctld waits
/// for those, but skips saving its state when a lock is still held (controller.c). `count` false
/// leaves that out, for a test.
class HeldLocks {
 public:
  HeldLocks(LockKind kind, LockTimes& times, bool count = true);
  ~HeldLocks();
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;

  [[nodiscard]] bool held() const { return held_; }
  /// Milliseconds since the locks were taken.
  [[nodiscard]] double held_ms() const;

 private:
  slurmctld_lock_t locks_;
  LockTimes& times_;
  bool count_;
  bool held_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace rubato

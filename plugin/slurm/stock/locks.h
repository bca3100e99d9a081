// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's locks, held for a scope and timed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "lib/base/clock.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

enum class LockKind {
  kLook,   ///< read conf, job, node, part, fed
  kAct,    ///< read conf, write job and node, read part and fed: the locks of schedule()
  kNodes,  ///< read node
  kConf,   ///< read conf
};

/// Why the locks are held.
enum class LockUse {
  kLightLook,  ///< a snapshot that reads only what changed
  kFullLook,   ///< a snapshot that reads everything
  kStart,      ///< starts of a plan, one lock slice
  kWrite,      ///< reasons and expected starts written to jobs
  kPeek,       ///< whether completing nodes are free
  kSignal,     ///< a running job is told of a change, by signal and notice
  kRequeue,    ///< a restart: the requeue, and later its release
  kShrink,     ///< a running job gives back GPUs
  kGrow,       ///< a running job gets GPUs
};
inline constexpr std::size_t kLockUses = 9;

/// Lock holds on slurmctld. `cpu_ms` is CPU time of the holding thread, which other processes on a
/// busy machine do not lengthen.
struct HoldTimes {
  std::uint64_t holds = 0;
  double total_ms = 0;
  double max_ms = 0;
  double cpu_ms = 0;
  double max_cpu_ms = 0;

  void add(double ms, double cpu);
};

/// Holds by the loop, in all and by use, measured with `clock`.
struct LockTimes {
  explicit LockTimes(std::shared_ptr<const Clock> by) : clock(std::move(by)) {}

  std::shared_ptr<const Clock> clock;
  HoldTimes all;
  std::array<HoldTimes, kLockUses> by_use;
  void add(LockUse use, double ms, double cpu);
};

/// Takes the locks unless slurmctld is shutting down; check `held()`.
///
/// The holder counts as one of slurmctld's server threads. At SIGTERM slurmctld waits for those,
/// but skips saving its state if a lock is still held (controller.c). `count` false omits this, for
/// a test.
class HeldLocks {
 public:
  HeldLocks(LockKind kind, LockUse use, LockTimes& times, bool count = true);
  ~HeldLocks();
  HeldLocks(const HeldLocks&) = delete;
  HeldLocks& operator=(const HeldLocks&) = delete;

  [[nodiscard]] bool held() const { return held_; }
  /// Milliseconds since the locks were taken.
  [[nodiscard]] double held_ms() const;

 private:
  slurmctld_lock_t locks_;
  LockUse use_;
  LockTimes& times_;
  bool count_;
  bool held_ = false;
  SteadyTime since_;
  double cpu_since_ = 0;
};

}  // namespace rubato

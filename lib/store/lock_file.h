// SPDX-License-Identifier: GPL-2.0-or-later
// A lock file: only one process at a time writes to a store.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/clock.h"
#include "lib/base/error.h"

namespace rubato::store {

/// The owner of a lock. Stored in the file, because kernel locks do not reach every host of a
/// shared file system.
struct LockOwner {
  std::string host;
  std::string boot;  ///< /proc/sys/kernel/random/boot_id; a different one means the process is gone
  pid_t pid = 0;

  bool operator==(const LockOwner&) const = default;
};

/// State of the kernel lock on the file.
enum class KernelLock {
  kTaken,  ///< we hold it
  kHeld,   ///< another open file holds it
  kNone,   ///< this file system has no kernel locks
};

/// Interval of the heartbeat in a lock file that other hosts can read. Each one is a small write to
/// the shared file system.
inline constexpr std::chrono::seconds kBeatInterval{5};
/// A lock of another host whose heartbeat stands still for so long is taken over: twelve missed
/// heartbeats, more than a busy or briefly disconnected file server costs. Measured by the waiting
/// host's clock alone, so the clocks of the hosts may differ.
inline constexpr std::chrono::seconds kStaleAfter{60};
/// The owner of a lock writes nothing when its last heartbeat is older. Half of kStaleAfter, so it
/// stops before another host begins.
inline constexpr std::chrono::seconds kLease{30};

/// What a waiting process saw in the lock file of another host. Kept between attempts.
struct LockWatch {
  SteadyTime now{};  ///< set before each attempt
  std::string seen = {};
  SteadyTime since{};  ///< when `seen` was new
};

/// Whether a lock file with `owner` (empty host: no owner) excludes `self`; see LockFile::take.
[[nodiscard]] bool is_held(const LockOwner& owner, const LockOwner& self, bool local,
                           KernelLock kernel);

/// The current process.
[[nodiscard]] LockOwner this_process();

/// A held lock: a file with a kernel lock (flock), and the owner as its content.
class LockFile {
 public:
  /// Takes the lock. Fails without waiting; the error names the owner.
  ///
  /// On a `local` file system only the kernel lock counts: it ends with the process, and no other
  /// host can hold one. On others, a file of another host counts as held: that host may be
  /// disconnected but still write. With a `watch`, it is stale once its heartbeat stood still for
  /// kStaleAfter; a file without a heartbeat never is. A file of this host is stale if the kernel
  /// lock is free. Without kernel locks, it is stale if the boot differs or the process is gone.
  [[nodiscard]] static Result<LockFile> take(const std::string& path, bool local,
                                             const LockOwner& self = this_process(),
                                             LockWatch* watch = nullptr);

  /// Reads the file again: fails if another process has taken it over. Writes the heartbeat if it
  /// is due. Does nothing on a local file system. Call before each write and each kBeatInterval.
  [[nodiscard]] Result<void> renew(SteadyTime now);

  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  /// Removes the file and releases the lock.
  ~LockFile();

 private:
  LockFile(std::string path, bool local, LockOwner self);
  void release() noexcept;
  [[nodiscard]] bool is_ours() const noexcept;

  std::string path_;
  int file_ = -1;
  bool taken_ = false;  ///< else release() only closes the file
  bool local_ = true;
  LockOwner self_;
  std::string owner_lines_;  ///< first lines of the file, which the heartbeat does not change
  std::int64_t beat_ = 0;
  std::optional<SteadyTime> beaten_;
};

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// A lock file: only one process at a time writes to a store.
#pragma once

#include <sys/types.h>

#include <string>

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
  /// disconnected but still write. A file of this host is stale if the kernel lock is free. Without
  /// kernel locks, it is stale if the boot differs or the process is gone.
  [[nodiscard]] static Result<LockFile> take(const std::string& path, bool local,
                                             const LockOwner& self = this_process());

  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  /// Removes the file and releases the lock.
  ~LockFile();

 private:
  LockFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  void release();

  std::string path_;
  int file_ = -1;
};

}  // namespace rubato::store

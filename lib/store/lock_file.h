// SPDX-License-Identifier: GPL-2.0-or-later
// A lock file: only one process at a time writes a store.
#pragma once

#include <sys/types.h>

#include <string>

#include "lib/base/error.h"

namespace rubato::store {

/// Who holds a lock. Written into the file, because locks of the kernel do not reach every host
/// that shares a file system.
struct LockOwner {
  std::string host;
  std::string boot;  ///< /proc/sys/kernel/random/boot_id; a different one means the process is gone
  pid_t pid = 0;

  bool operator==(const LockOwner&) const = default;
};

/// State of the kernel's lock on the file.
enum class KernelLock {
  kTaken,  ///< we have it
  kHeld,   ///< another open file has it
  kNone,   ///< this file system has no such locks
};

/// Whether a lock file with `owner` (empty host: no owner) keeps `self` out; see LockFile::take.
[[nodiscard]] bool is_held(const LockOwner& owner, const LockOwner& self, bool local,
                           KernelLock kernel);

/// This process.
[[nodiscard]] LockOwner this_process();

/// A held lock: a file with a kernel lock (flock) on it and the owner inside.
class LockFile {
 public:
  /// Takes the lock. Fails with the name of its holder, without waiting.
  ///
  /// On a `local` file system the kernel's lock decides alone: it ends with the process, and no
  /// other host can hold one. On others a file of another host counts as held, because that host
  /// may be cut off and still be writing; one of this host is stale when the kernel's lock is free
  /// or, where that file system has none, when the boot is another or the process is gone.
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

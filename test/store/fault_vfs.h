// SPDX-License-Identifier: GPL-2.0-or-later
// A SQLite VFS that forwards to the system's and fails on request.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace rubato::test {

/// Calls that can fail. kFullWrite and kShortRead are further failures of writes and reads.
enum class FaultPoint {
  kOpen,
  kRead,
  kShortRead,  ///< half of the requested bytes, the rest zeros, as at the end of a file
  kWrite,
  kFullWrite,  ///< no space left on the device
  kSync,
  kTruncate,
  kFileSize,
  kLock,
  kDelete,
  kAccess,
  kShmMap,
  kShmLock,
  kCount
};
[[nodiscard]] const char* to_string(FaultPoint);

enum class FaultKind {
  kError,  ///< the call fails
  kHang,   ///< the call does not return before `release_hung`
  kExit,   ///< the process ends, as by kill -9
};

/// The name for opening a database; registers the VFS at the first call.
[[nodiscard]] const std::string& fault_vfs();

/// Makes call number `nth` (from 1) of `point` fail; with `forever` all later ones too. Replaces an
/// earlier fault.
void set_fault(FaultPoint point, int nth, FaultKind kind = FaultKind::kError, bool forever = false);
void clear_fault();
/// How often the current fault was hit.
[[nodiscard]] int fault_hits();
/// Resumes hung calls and clears the fault.
void release_hung();
/// Number of currently hung calls.
[[nodiscard]] int hung_calls();

}  // namespace rubato::test

// SPDX-License-Identifier: GPL-2.0-or-later
// A file layer of SQLite that forwards to the system's and goes wrong when told to.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace rubato::test {

/// Where the layer can go wrong. kFullWrite and kShortRead are other ways in which a write and a
/// read fail.
enum class FaultPoint {
  kOpen,
  kRead,
  kShortRead,  ///< half of what was asked for, the rest zeros, as at the end of a file
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
  kExit,   ///< the process ends there, as by kill -9
};

/// The name to open a database with; registers the layer the first time.
[[nodiscard]] const std::string& fault_vfs();

/// From now on call number `nth` (from 1) of `point` goes wrong; with `forever` all later ones too.
/// Replaces what was set before.
void set_fault(FaultPoint point, int nth, FaultKind kind = FaultKind::kError, bool forever = false);
void clear_fault();
/// How often the fault set last was hit.
[[nodiscard]] int fault_hits();
/// Lets hung calls go on, and sets no further fault.
void release_hung();
/// Calls that hang at the moment.
[[nodiscard]] int hung_calls();

}  // namespace rubato::test

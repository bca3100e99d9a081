// SPDX-License-Identifier: GPL-2.0-or-later
// The folder of the store: its file system, and corrupt files set aside in it.
#pragma once

#include <sys/types.h>

#include <string>

#include "lib/base/error.h"
#include "lib/base/units.h"

namespace rubato::store {

/// Name of the database in its folder.
inline constexpr const char* kDatabaseName = "rubato.db";
/// Maximum number of corrupt files kept. After that, the store stays off until an admin removes
/// them.
inline constexpr int kMaxSetAside = 8;

/// Makes the folder (0700) if its parent exists. The error says why the folder is unusable: a
/// folder that a user other than root and `trusted` controls (folder_trouble()) is refused.
[[nodiscard]] Result<void> make_folder(const std::string& folder, uid_t trusted);

/// True if only one kernel uses the file system of `path`, so that its locks and its shared memory
/// are reliable, as WAL requires (https://www.sqlite.org/wal.html). By statfs; false for every type
/// not known to be local.
[[nodiscard]] Result<bool> is_local(const std::string& path);

/// The same for a file system type from statfs (f_type).
[[nodiscard]] bool is_local_type(std::uint64_t type);

/// Renames a database and its journals to `PATH.corrupt-YYYYMMDDTHHMMSSZ` (of `now`, UTC). Returns
/// the new name. Fails if `kMaxSetAside` exist already.
[[nodiscard]] Result<std::string> set_aside(const std::string& path, Seconds now);

/// "PATH: MESSAGE" for an errno.
[[nodiscard]] std::string system_text(const std::string& path, int code);

}  // namespace rubato::store

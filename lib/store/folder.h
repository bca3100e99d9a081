// SPDX-License-Identifier: GPL-2.0-or-later
// The folder of the store: its file system, and the corrupt files set aside in it.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/base/units.h"

namespace rubato::store {

/// Name of the database in its folder.
inline constexpr const char* kDatabaseName = "rubato.db";
/// Maximum number of corrupt files kept. Then the store stays off until an admin removes them.
inline constexpr int kMaxSetAside = 8;

/// Makes the folder (0700) if its parent is there. Fails where it cannot be used, saying why.
[[nodiscard]] Result<void> make_folder(const std::string& folder);

/// Whether one kernel alone uses the file system of `path`, so that its locks and its shared memory
/// can be relied on, as WAL needs (https://www.sqlite.org/wal.html). By statfs; false for every
/// type that is not known to be local.
[[nodiscard]] Result<bool> is_local(const std::string& path);

/// The same for a type of file system as statfs gives it (f_type).
[[nodiscard]] bool is_local_type(std::uint64_t type);

/// Renames a database to `PATH.corrupt-YYYYMMDDTHHMMSSZ` (of `now`, UTC), its journals with it;
/// the new name. Fails when `kMaxSetAside` are there already.
[[nodiscard]] Result<std::string> set_aside(const std::string& path, Seconds now);

/// "PATH: MESSAGE" for an errno.
[[nodiscard]] std::string system_text(const std::string& path, int code);

}  // namespace rubato::store

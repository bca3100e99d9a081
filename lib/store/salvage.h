// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what can still be read of a damaged database.
#pragma once

#include <cstdint>
#include <string>

#include "lib/store/connection.h"

namespace rubato::store {

/// Copies the readable rows of the damaged file at `damaged` into `database`, which has the current
/// schema. Rows that `database` has already stay as they are. A table is read from both ends up to
/// the damage; in a table with row ids also between damaged pages. Returns the number of new rows.
/// Fails if the file is no database at all. The damaged file does not change.
[[nodiscard]] StoreResult<std::int64_t> salvage(SQLite::Database& database,
                                                const std::string& damaged,
                                                const std::string& vfs = "");

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// The tables, and the upgrade of databases of earlier versions.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/store/connection.h"

namespace rubato::store {

/// SQLite's application_id of the store's files ("Rubt").
inline constexpr std::int64_t kApplicationId = 0x52756274;
/// PRAGMA user_version of databases that this release writes.
inline constexpr int kSchemaVersion = 3;

/// The step from version `to` - 1 to version `to`.
struct Migration {
  int to = 0;
  const char* sql = "";
};

/// All steps in order; the first makes the tables in an empty file. Returned by value, since the
/// store has no static data: an abandoned thread must not use data that exit() has destroyed.
[[nodiscard]] std::vector<Migration> migrations();

/// Returns the version if the file is ours and can be upgraded to the last of `steps`. An empty
/// file is version 0. Fails for another program's database and for a newer version.
[[nodiscard]] StoreResult<int> check_version(SQLite::Database& database, const std::string& path,
                                             const std::vector<Migration>& steps);

/// Upgrades the database to the last of `steps`. Each step and its version number are one
/// transaction: after a crash or failure, the file has a valid version. Does nothing to a file that
/// check_version rejects.
[[nodiscard]] StoreResult<void> migrate(SQLite::Database& database, const std::string& path,
                                        const std::vector<Migration>& steps = migrations());

}  // namespace rubato::store

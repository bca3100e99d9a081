// SPDX-License-Identifier: GPL-2.0-or-later
// The tables, and how a database of an earlier version becomes one of this version.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/store/connection.h"

namespace rubato::store {

/// SQLite's application_id of our files ("Rubt").
inline constexpr std::int64_t kApplicationId = 0x52756274;
/// PRAGMA user_version of databases that this code writes.
inline constexpr int kSchemaVersion = 3;

/// The step to version `to`, from the one before.
struct Migration {
  int to = 0;
  const char* sql = "";
};

/// All steps in order; the first makes the tables in an empty file. No static anywhere in the
/// store: a thread that was left behind must not find what exit() has destroyed.
[[nodiscard]] std::vector<Migration> migrations();

/// Whether the file is ours and of a version that can be brought to the last of `steps`; the
/// version. An empty file is version 0. Fails for the database of another program and for a newer
/// version.
[[nodiscard]] StoreResult<int> check_version(SQLite::Database& database, const std::string& path,
                                             const std::vector<Migration>& steps);

/// Brings the database to the last of `steps`, each step in a transaction with its version number:
/// killed or failed in between, the file has the version it had, or one between. Nothing is done to
/// a file that check_version refuses.
[[nodiscard]] StoreResult<void> migrate(SQLite::Database& database, const std::string& path,
                                        const std::vector<Migration>& steps = migrations());

}  // namespace rubato::store

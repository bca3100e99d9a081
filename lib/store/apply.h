// SPDX-License-Identifier: GPL-2.0-or-later
// Carries out orders about profiles in the database. All functions throw SQLite::Exception.
#pragma once

#include "lib/store/connection.h"
#include "lib/store/orders.h"

namespace rubato::store {

/// What `forget` would remove.
[[nodiscard]] OrderDone count_forgotten(SQLite::Database& database, const ForgetOrder& order);
OrderDone forget(SQLite::Database& database, const ForgetOrder& order);
/// Increments Reader::profile_changes().
void mark_profiles_changed(SQLite::Database& database);

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// Orders about profiles, done in the database. All of these throw SQLite::Exception.
#pragma once

#include "lib/store/connection.h"
#include "lib/store/orders.h"

namespace rubato::store {

/// What `forget` would remove.
[[nodiscard]] OrderDone count_forgotten(SQLite::Database& database, const ForgetOrder& order);
OrderDone forget(SQLite::Database& database, const ForgetOrder& order);
/// Reader::profile_changes() grows.
void mark_profiles_changed(SQLite::Database& database);

}  // namespace rubato::store

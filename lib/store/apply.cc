// SPDX-License-Identifier: GPL-2.0-or-later
// Orders about profiles, done in the database.
#include "lib/store/apply.h"

#include <fmt/format.h>

#include <string>

namespace rubato::store {
namespace {

/// SQL conditions of a ForgetOrder on rows called `x`, with job types as `t`.
std::string conditions(const ForgetOrder& order, const char* time) {
  std::string where = "x.type IN (SELECT id FROM job_types WHERE name = ?1";
  if (order.account) where += " AND account = ?2";
  where += ")";
  if (order.gpu_type) where += " AND x.gpu_type = ?3";
  if (order.before) where += fmt::format(" AND x.{} < ?4", time);
  return where;
}

void bind(SQLite::Statement& statement, const ForgetOrder& order) {
  statement.bind(1, order.job_type);
  if (order.account) statement.bind(2, *order.account);
  if (order.gpu_type) statement.bind(3, *order.gpu_type);
  if (order.before) statement.bind(4, *order.before);
}

struct AgedTable {
  const char* table;
  const char* time;
  std::int64_t OrderDone::*count;
};
constexpr AgedTable kPlaces[] = {{"samples", "time", &OrderDone::samples},
                                 {"imported", "last", &OrderDone::rows},
                                 {"fits", "time", &OrderDone::fits}};

}  // namespace

OrderDone count_forgotten(SQLite::Database& database, const ForgetOrder& order) {
  OrderDone done;
  for (const AgedTable& place : kPlaces) {
    SQLite::Statement query(database, fmt::format("SELECT count(*) FROM {} AS x WHERE {}",
                                                  place.table, conditions(order, place.time)));
    bind(query, order);
    query.executeStep();
    done.*place.count = query.getColumn(0).getInt64();
  }
  return done;
}

OrderDone forget(SQLite::Database& database, const ForgetOrder& order) {
  OrderDone done;
  for (const AgedTable& place : kPlaces) {
    SQLite::Statement removal(database, fmt::format("DELETE FROM {} AS x WHERE {}", place.table,
                                                    conditions(order, place.time)));
    bind(removal, order);
    done.*place.count = removal.exec();
  }
  return done;
}

void mark_profiles_changed(SQLite::Database& database) {
  database.exec(
      "INSERT INTO marks (name, value) VALUES ('profiles', 1) "
      "ON CONFLICT (name) DO UPDATE SET value = value + 1");
}

}  // namespace rubato::store

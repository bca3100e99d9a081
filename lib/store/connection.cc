// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace rubato::store {

StoreFailure failure_of(const SQLite::Exception& error, const std::string& path) {
  FailureKind trouble = FailureKind::kTransient;
  switch (error.getErrorCode()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      trouble = FailureKind::kCorrupt;
      break;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
      trouble = FailureKind::kRecord;
      break;
    default:
      break;
  }
  return {trouble,
          fmt::format("{}: {} (SQLite code {})", path, error.what(), error.getExtendedErrorCode())};
}

std::string text_of(SQLite::Database& database, const std::string& sql) {
  SQLite::Statement query(database, sql);
  return query.executeStep() ? query.getColumn(0).getString() : std::string();
}

std::int64_t number_of(SQLite::Database& database, const std::string& sql) {
  SQLite::Statement query(database, sql);
  return query.executeStep() ? query.getColumn(0).getInt64() : 0;
}

}  // namespace rubato::store

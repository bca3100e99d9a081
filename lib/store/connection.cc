// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace rubato::store {

Failure failure_of(const SQLite::Exception& error, const std::string& path) {
  Trouble trouble = Trouble::kTransient;
  switch (error.getErrorCode()) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      trouble = Trouble::kCorrupt;
      break;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
      trouble = Trouble::kRecord;
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

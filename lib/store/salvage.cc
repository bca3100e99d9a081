// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/salvage.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace rubato::store {

namespace {

/// Damaged ranges of a table that are halved to find rows between them. Each costs one look-up.
constexpr int kMaxProbes = 4000;

/// Larger than any row id: ids count insertions.
constexpr std::int64_t kMaxId = std::int64_t{1} << 40;

/// Tables in the order of their references.
constexpr const char* kTables[] = {"job_types", "samples",   "imported", "fits",
                                   "jobs",      "decisions", "runs",     "marks"};

bool has_row_id(const std::string& table) {
  return table == "job_types" || table == "samples" || table == "decisions";
}

std::vector<std::string> columns_of(SQLite::Database& database, const std::string& table) {
  std::vector<std::string> names;
  SQLite::Statement query(database, "PRAGMA table_info(" + table + ")");
  while (query.executeStep()) names.push_back(query.getColumn(1).getString());
  return names;
}

/// Copies the rows of one table.
class TableCopy {
 public:
  TableCopy(SQLite::Database& from, SQLite::Database& into, const std::string& table)
      : from_(from), table_(table) {
    const std::vector<std::string> known = columns_of(into, table);
    for (const std::string& name : columns_of(from, table)) {
      if (std::find(known.begin(), known.end(), name) != known.end())
        columns_.push_back('"' + name + '"');
    }
    if (columns_.empty()) return;
    std::string marks(2 * columns_.size() - 1, '?');
    for (std::size_t i = 1; i < marks.size(); i += 2) marks[i] = ',';
    insert_ = std::make_unique<SQLite::Statement>(
        into, fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({})", table,
                          fmt::join(columns_, ","), marks));
  }

  std::int64_t run() {
    if (insert_ == nullptr) return 0;
    if (has_row_id(table_)) {
      range(1, kMaxId);
    } else {
      // Both ends; the second read finds the rows of the first again if nothing is damaged between.
      if (!read("", nullptr)) read(" ORDER BY 1 DESC, 2 DESC, 3 DESC", nullptr);
    }
    return rows_;
  }

 private:
  /// Rows with ids from `first` to `last`, around what is damaged.
  void range(std::int64_t first, std::int64_t last) {
    if (first > last || --probes_ < 0) return;
    std::int64_t low = first - 1;
    if (read(fmt::format(" WHERE rowid BETWEEN {} AND {} ORDER BY rowid", first, last), &low)) {
      return;
    }
    std::int64_t high = last + 1;
    const std::string above =
        fmt::format(" WHERE rowid > {} AND rowid <= {} ORDER BY rowid DESC", low, last);
    if (read(above, &high) || first == last || low + 1 > high - 1) return;
    const std::int64_t middle = low + (high - low) / 2;
    range(low + 1, middle);
    range(middle + 1, high - 1);
  }

  /// Inserts the rows of `SELECT ... FROM table` + `rest`; `reached` gets the id of the last one.
  /// False: it stopped at damage.
  bool read(const std::string& rest, std::int64_t* reached) {
    try {
      SQLite::Statement rows(
          from_, fmt::format("SELECT {}{} FROM {}{}", reached != nullptr ? "rowid," : "",
                             fmt::join(columns_, ","), table_, rest));
      const int shift = reached != nullptr ? 1 : 0;
      while (rows.executeStep()) {
        if (reached != nullptr) *reached = rows.getColumn(0).getInt64();
        put(rows, shift);
      }
      return true;
    } catch (const SQLite::Exception&) {
      return false;
    }
  }

  void put(SQLite::Statement& row, int shift) {
    const StatementReset insert(*insert_);
    for (int i = 0; i < static_cast<int>(columns_.size()); ++i)
      bind(row.getColumn(i + shift), i + 1);
    rows_ += insert_->exec();
  }

  void bind(const SQLite::Column& value, int index) {
    switch (value.getType()) {
      case SQLITE_INTEGER:
        return insert_->bind(index, value.getInt64());
      case SQLITE_FLOAT:
        return insert_->bind(index, value.getDouble());
      case SQLITE_TEXT:
        return insert_->bind(index, value.getString());
      default:
        return insert_->bind(index);
    }
  }

  SQLite::Database& from_;
  std::string table_;
  std::vector<std::string> columns_;
  std::unique_ptr<SQLite::Statement> insert_;
  std::int64_t rows_ = 0;
  int probes_ = kMaxProbes;
};

}  // namespace

StoreResult<std::int64_t> salvage(SQLite::Database& database, const std::string& damaged,
                                  const std::string& vfs) {
  return caught(damaged, [&] {
    SQLite::Database from(damaged, SQLite::OPEN_READWRITE, 0, vfs);
    // The file and its journal are evidence: closing must not write them.
    sqlite3_db_config(from.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    from.exec("PRAGMA query_only = ON");
    from.exec("PRAGMA cell_size_check = ON");
    static_cast<void>(number_of(from, "SELECT count(*) FROM sqlite_schema"));
    database.exec("PRAGMA foreign_keys = OFF");
    std::int64_t rows = 0;
    Transaction transaction(database);
    for (const char* table : kTables) rows += TableCopy(from, database, table).run();
    // Rows whose job type was lost tell nothing.
    for (const char* table : {"samples", "imported", "fits", "jobs"}) {
      rows -= database.exec(
          fmt::format("DELETE FROM {} WHERE type NOT IN (SELECT id FROM job_types)", table));
    }
    transaction.commit();
    database.exec("PRAGMA foreign_keys = ON");
    return rows;
  });
}

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// A connection to SQLite, and the meaning of its errors. In the store, functions that throw
// SQLite::Exception say so; all others do not.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <memory>
#include <string>
#include <utility>

#include "lib/base/error.h"

namespace rubato::store {

/// Kinds of failure, by the writer's reaction.
enum class FailureKind {
  kNone,
  kTransient,  ///< busy, full, read-only, I/O: a retry may succeed
  kCorrupt,    ///< pages that are not a database
  kRecord,     ///< this record is invalid; the next may be valid
};

/// A failed operation: a sentence, and the kind of failure.
struct StoreFailure {
  FailureKind trouble = FailureKind::kTransient;
  std::string text;
};

template <typename T>
using StoreResult = tl::expected<T, StoreFailure>;

[[nodiscard]] inline tl::unexpected<StoreFailure> failed(FailureKind trouble, std::string text) {
  return tl::unexpected<StoreFailure>(StoreFailure{trouble, std::move(text)});
}

/// "PATH: disk I/O error (code 1546)", with the kind of failure by its code.
[[nodiscard]] StoreFailure failure_of(const SQLite::Exception& error, const std::string& path);

/// Runs `work` and turns SQLite::Exception into a Failure. Other exceptions (memory) become a
/// transient Failure as well.
template <typename Work>
[[nodiscard]] auto caught(const std::string& path, Work work) -> StoreResult<decltype(work())> {
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (const SQLite::Exception& error) {
    return tl::unexpected<StoreFailure>(failure_of(error, path));
  } catch (const std::exception& error) {
    return failed(FailureKind::kTransient, path + ": " + error.what());
  }
}

/// A transaction that is rolled back unless commit() was called. Unlike SQLite::Transaction, its
/// destructor throws nothing when memory fails.
class Transaction {
 public:
  /// Takes the write lock. Throws SQLite::Exception.
  explicit Transaction(SQLite::Database& database) : database_(database) {
    database_.exec("BEGIN IMMEDIATE");
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (!committed_) database_.tryExec("ROLLBACK");
  }
  /// Throws SQLite::Exception.
  void commit() {
    database_.exec("COMMIT");
    committed_ = true;
  }

 private:
  SQLite::Database& database_;
  bool committed_ = false;
};

/// Resets a reused statement at the end of its use.
class StatementReset {
 public:
  explicit StatementReset(SQLite::Statement& statement) : statement_(statement) {}
  StatementReset(const StatementReset&) = delete;
  StatementReset& operator=(const StatementReset&) = delete;
  ~StatementReset() { statement_.tryReset(); }
  SQLite::Statement* operator->() { return &statement_; }

 private:
  SQLite::Statement& statement_;
};

/// The first column of the first row of `sql`, as text. Throws SQLite::Exception.
[[nodiscard]] std::string text_of(SQLite::Database& database, const std::string& sql);
/// The same as an integer.
[[nodiscard]] std::int64_t number_of(SQLite::Database& database, const std::string& sql);

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// A store opened for writing: lock, database, plausibility of reports. For one thread; every call
// may wait for the disk.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/store/connection.h"
#include "lib/store/lock_file.h"
#include "lib/store/options.h"
#include "lib/store/orders.h"
#include "lib/store/plausibility.h"
#include "lib/store/rows.h"

namespace rubato::store {

/// Identity of the file at a path.
struct FileMark {
  dev_t device = 0;
  ino_t number = 0;  ///< 0: none

  bool operator==(const FileMark&) const = default;
};

/// Result of a batch.
struct WriteCounts {
  std::int64_t written = 0;  ///< including flagged ones
  std::int64_t flagged = 0;
  std::int64_t rejected = 0;  ///< unstorable records (`storable`)
};

class Session {
 public:
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes the lock, opens or creates the database, checks its pages and upgrades its schema; the
  /// database of before stays as `PATH.schema-N`, for the release that wrote it. If
  /// the check fails twice, sets the file aside and creates a new one from the newest backup and
  /// from what can be read of the damaged file (salvage.h); `notes` reports it. Fails if
  /// another process holds the lock, if the schema is newer, and on system errors.
  /// `watch` outlives attempts: with it, the lock of a host that is down is taken over.
  [[nodiscard]] static StoreResult<std::unique_ptr<Session>> open(const StoreOptions& options,
                                                                  Seconds now,
                                                                  std::vector<std::string>& notes,
                                                                  LockWatch* watch = nullptr);

  /// Fails if another host has taken the lock over; the session must then be closed unwritten.
  [[nodiscard]] StoreResult<void> keep_lock(SteadyTime now);

  /// Copies the database to `PATH.backup-1` if the newest backup is older than
  /// StoreOptions::backup_every; older backups move on, and the oldest goes. True if it did.
  [[nodiscard]] StoreResult<bool> back_up(Seconds now);

  /// Checks the plausibility of samples and writes all entries in one transaction. After a failure,
  /// the session must be opened again.
  [[nodiscard]] StoreResult<WriteCounts> write(std::span<const AnyRecord> entries);

  /// Carries out an order in one transaction.
  [[nodiscard]] StoreResult<OrderDone> apply(const Order& order);

  /// Deletes records beyond the retention limits. Returns their number.
  [[nodiscard]] StoreResult<std::int64_t> retain(Seconds now);

  /// Makes a consistent copy at `path` with file mode `mode`, by rename. It needs no other file and
  /// can be read from a read-only folder.
  [[nodiscard]] StoreResult<void> copy_to(const std::string& path, unsigned mode = 0600);

  /// Fails if the path names no file or not the open one, because readers would not see new
  /// records. The session must then be opened again.
  [[nodiscard]] StoreResult<void> in_place() const;

  /// The path of the database.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// "wal" or "delete".
  [[nodiscard]] const std::string& journal_mode() const { return journal_mode_; }

 private:
  Session(const StoreOptions& options, LockFile lock);
  StoreResult<void> open_database(bool local, Seconds now, std::vector<std::string>& notes);
  StoreResult<void> connect();
  [[nodiscard]] std::string rescue(const std::string& aside);
  StoreResult<void> check();
  [[nodiscard]] std::string keep_before_upgrade();
  // Called by the destructor: they allocate nothing.
  void drop_left_journal() const noexcept;
  [[nodiscard]] bool has_path() const noexcept;
  StoreResult<void> prepare(bool local);
  void load_judge();
  void insert(const AnyRecord& entry, WriteCounts& count);
  [[nodiscard]] OrderDone import(const ImportOrder& order);

  StoreOptions options_;
  std::string path_;
  std::string journal_path_;  ///< in WAL mode
  std::string shared_path_;   ///< likewise
  std::string journal_mode_;
  FileMark mark_;          ///< of the open database
  FileMark journal_mark_;  ///< of its journal, in WAL mode
  Plausibility judge_;
  // Destroyed in reverse order: statements, database, lock.
  LockFile lock_;
  std::unique_ptr<SQLite::Database> database_;
  std::unique_ptr<RowWriter> rows_;
};

/// The SQL part of `retain`; throws SQLite::Exception.
[[nodiscard]] std::int64_t remove_beyond(SQLite::Database& database, const Retention& retention,
                                         Seconds now);

}  // namespace rubato::store

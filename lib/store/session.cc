// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "lib/store/apply.h"
#include "lib/store/backup.h"
#include "lib/store/folder.h"
#include "lib/store/salvage.h"
#include "lib/store/schema.h"

namespace rubato::store {
namespace {

constexpr const char* kLockName = "store.lock";

tl::unexpected<StoreFailure> in_the_way(Error error) {
  return failed(FailureKind::kTransient, std::move(error.text));
}

/// Creates the file readable only by its owner, to protect job reports. Only for new files: closing
/// any descriptor of a file that SQLite has open in this process would release SQLite's locks on
/// it.
void make_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

FileMark mark_of(const std::string& path) noexcept {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {.device = info.st_dev, .number = info.st_ino};
}

}  // namespace

Session::Session(const StoreOptions& options, LockFile lock)
    : options_(options),
      path_(options.folder + "/" + kDatabaseName),
      journal_path_(path_ + "-wal"),
      shared_path_(path_ + "-shm"),
      judge_(options.bounds),
      lock_(std::move(lock)) {}

Session::~Session() {
  const bool replaced = database_ != nullptr && !has_path();
  rows_.reset();
  database_.reset();
  if (replaced) drop_left_journal();
}

// SQLite leaves the journal of a removed file; it must not be applied to the next file.
void Session::drop_left_journal() const noexcept {
  if (journal_mark_.number == 0 || mark_of(journal_path_) != journal_mark_) return;
  ::unlink(journal_path_.c_str());
  ::unlink(shared_path_.c_str());
}

bool Session::has_path() const noexcept { return mark_.number != 0 && mark_of(path_) == mark_; }

StoreResult<void> Session::in_place() const {
  if (has_path()) return {};
  return failed(FailureKind::kTransient,
                path_ + ": removed or replaced by another file while it was open");
}

StoreResult<std::unique_ptr<Session>> Session::open(const StoreOptions& options, Seconds now,
                                                    std::vector<std::string>& notes,
                                                    LockWatch* watch) {
  auto folder = make_folder(options.folder, ::geteuid());
  if (!folder) return in_the_way(std::move(folder.error()));
  auto local = options.local ? Result<bool>(*options.local) : is_local(options.folder);
  if (!local) return in_the_way(std::move(local.error()));
  auto lock = LockFile::take(options.folder + "/" + kLockName, *local, this_process(), watch);
  if (!lock) return in_the_way(std::move(lock.error()));
  std::unique_ptr<Session> session(new Session(options, std::move(*lock)));
  return session->open_database(*local, now, notes).map([&] { return std::move(session); });
}

StoreResult<void> Session::open_database(bool local, Seconds now, std::vector<std::string>& notes) {
  std::string upgraded;
  const auto attempt = [&]() -> StoreResult<void> {
    rows_.reset();
    database_.reset();
    auto done = connect().and_then([&] { return check(); });
    if (!done) return done;
    upgraded = keep_before_upgrade();
    return prepare(local);
  };
  StoreResult<void> opened = attempt();
  // A transient read error looks like a corrupt page, so try again.
  if (!opened && opened.error().trouble == FailureKind::kCorrupt) opened = attempt();
  if (opened && !upgraded.empty()) notes.push_back(upgraded);
  if (opened || opened.error().trouble != FailureKind::kCorrupt) return opened;
  rows_.reset();
  database_.reset();
  auto aside = set_aside(path_, now);
  if (!aside) return in_the_way(std::move(aside.error()));
  const std::string why = opened.error().text;
  const std::string base = use_newest_backup(path_);
  opened = attempt();
  if (!opened) return opened;
  notes.push_back(
      fmt::format("{}; set aside as {}, started anew{}{}", why, *aside, base, rescue(*aside)));
  return {};
}

std::string Session::rescue(const std::string& aside) {
  const auto rows = salvage(*database_, aside, options_.vfs);
  rows_->forget_types();
  const auto judged = caught(path_, [&] { load_judge(); });
  if (!rows) return fmt::format("; nothing could be read of it ({})", rows.error().text);
  return fmt::format("; {} rows of it were read and kept{}", *rows,
                     judged ? "" : ": " + judged.error().text);
}

StoreResult<void> Session::keep_lock(SteadyTime now) {
  auto kept = lock_.renew(now);
  if (!kept) return in_the_way(std::move(kept.error()));
  return {};
}

StoreResult<bool> Session::back_up(Seconds now) {
  if (!backup_is_due(path_, now, options_.backup_every)) return false;
  const std::string making = path_ + ".backup-0";
  return copy_to(making).and_then([&]() -> StoreResult<bool> {
    auto moved = rotate_backups(path_, options_.backups);
    if (!moved) return in_the_way(std::move(moved.error()));
    return true;
  });
}

StoreResult<void> Session::connect() {
  make_private(path_);
  return caught(path_, [&] {
    database_ = std::make_unique<SQLite::Database>(
        path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX,
        static_cast<int>(options_.busy_timeout.count()), options_.vfs);
    mark_ = mark_of(path_);
  });
}

StoreResult<void> Session::check() {
  const auto version = check_version(*database_, path_, migrations());
  if (!version) return tl::unexpected<StoreFailure>(version.error());
  const auto found =
      caught(path_, [&] { return text_of(*database_, "PRAGMA integrity_check(1)"); });
  if (!found) return tl::unexpected<StoreFailure>(found.error());
  if (*found != "ok") {
    return failed(FailureKind::kCorrupt, fmt::format("{}: integrity check: {}", path_, *found));
  }
  return {};
}

// The release that wrote the database refuses it once it is upgraded. Returns a sentence about it,
// "" if there is nothing to upgrade, or nothing in it: the first start of this release may have
// been killed.
std::string Session::keep_before_upgrade() {
  const auto version = check_version(*database_, path_, migrations());
  if (!version || *version == 0 || *version == kSchemaVersion) return {};
  const auto used = caught(path_, [&] {
    return number_of(*database_,
                     "SELECT EXISTS (SELECT * FROM job_types) OR EXISTS (SELECT * FROM decisions)");
  });
  if (used && *used == 0) return {};
  const std::string copy = fmt::format("{}.schema-{}", path_, *version);
  const auto copied = copy_to(copy);
  return fmt::format("{}: upgraded from schema version {} to {}; {}", path_, *version,
                     kSchemaVersion,
                     copied ? "the database of before is " + copy
                            : "no copy of before was made: " + copied.error().text);
}

StoreResult<void> Session::prepare(bool local) {
  auto set = caught(path_, [&] {
    SQLite::Database& db = *database_;
    db.exec("PRAGMA temp_store = MEMORY");
    db.exec("PRAGMA foreign_keys = ON");
    // FULL: a commit is on disk when it returns, also in WAL mode.
    db.exec("PRAGMA synchronous = FULL");
    if (local) {
      journal_mode_ = text_of(db, "PRAGMA journal_mode = WAL");
    } else {
      // Reading a file written in WAL mode needs shared memory, except in exclusive mode.
      db.exec("PRAGMA locking_mode = EXCLUSIVE");
      journal_mode_ = text_of(db, "PRAGMA journal_mode = DELETE");
      db.exec("PRAGMA locking_mode = NORMAL");
      static_cast<void>(number_of(db, "SELECT count(*) FROM sqlite_schema"));  // releases the lock
    }
  });
  if (!set) return set;
  return migrate(*database_, path_).and_then([&] {
    return caught(path_, [&] {
      rows_ = std::make_unique<RowWriter>(*database_);
      load_judge();
      journal_mark_ = mark_of(journal_path_);
    });
  });
}

void Session::load_judge() {
  judge_ = Plausibility(options_.bounds);
  SQLite::Statement query(*database_, select_samples() + "ORDER BY s.id");
  while (query.executeStep()) judge_.remember(sample_of(query));
}

void Session::insert(const AnyRecord& entry, WriteCounts& count) {
  if (!storable(entry)) {
    ++count.rejected;
    return;
  }
  try {
    if (const Sample* reported = std::get_if<Sample>(&entry)) {
      Sample sample = *reported;
      sample.flag = judge_.judge(sample);
      rows_->insert(sample);
      judge_.remember(sample);
      if (sample.flag != Flag::kNone) ++count.flagged;
    } else {
      std::visit([&](const auto& record) { rows_->insert(record); }, entry);
    }
  } catch (const SQLite::Exception& error) {
    // Such an error rolls back only its own statement; the transaction continues.
    if (failure_of(error, path_).trouble != FailureKind::kRecord) throw;
    ++count.rejected;
    return;
  }
  ++count.written;
}

StoreResult<WriteCounts> Session::write(std::span<const AnyRecord> entries) {
  return caught(path_, [&] {
    WriteCounts count;
    Transaction transaction(*database_);
    for (const AnyRecord& entry : entries) insert(entry, count);
    transaction.commit();
    return count;
  });
}

OrderDone Session::import(const ImportOrder& order) {
  OrderDone done;
  for (const ProfileRow& row : order.rows) {
    if (!storable(row)) continue;
    rows_->insert(row);
    ++done.imported;
  }
  return done;
}

StoreResult<OrderDone> Session::apply(const Order& order) {
  return caught(path_, [&] {
    Transaction transaction(*database_);
    const auto* import_order = std::get_if<ImportOrder>(&order);
    const OrderDone done = import_order != nullptr
                               ? import(*import_order)
                               : forget(*database_, std::get<ForgetOrder>(order));
    mark_profiles_changed(*database_);
    transaction.commit();
    rows_->forget_types();
    if (done.samples > 0) load_judge();
    return done;
  });
}

StoreResult<std::int64_t> Session::retain(Seconds now) {
  return caught(path_, [&] {
    Transaction transaction(*database_);
    const std::int64_t removed = remove_beyond(*database_, options_.retention, now);
    transaction.commit();
    rows_->forget_types();
    if (removed > 0) load_judge();
    return removed;
  });
}

StoreResult<void> Session::copy_to(const std::string& path, unsigned mode) {
  const std::string making = path + ".new";
  const auto tidy = [&] {
    ::unlink(making.c_str());
    ::unlink((making + "-journal").c_str());
  };
  tidy();
  make_private(making);  // VACUUM INTO accepts an empty file
  auto made = caught(path, [&] {
    SQLite::Statement copy(*database_, "VACUUM INTO ?");
    copy.bind(1, making);
    copy.exec();
  });
  if (!made) {
    tidy();
    return made;
  }
  if (::chmod(making.c_str(), static_cast<mode_t>(mode)) != 0 ||
      ::rename(making.c_str(), path.c_str()) != 0) {
    const int code = errno;
    tidy();
    return failed(FailureKind::kTransient, system_text(path, code));
  }
  return {};
}

}  // namespace rubato::store

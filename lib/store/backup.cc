// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/backup.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "lib/store/connection.h"
#include "lib/store/folder.h"
#include "lib/store/schema.h"

namespace rubato::store {

namespace {

/// More than any StoreOptions::backups: older numbers are looked for up to here.
constexpr int kMaxNumber = 32;

std::string backup_path(const std::string& path, int number) {
  return fmt::format("{}.backup-{}", path, number);
}

bool is_good(const std::string& path) {
  const auto found = caught(path, [&] {
    SQLite::Database database(path, SQLite::OPEN_READONLY);
    // One of a later release could not be used either.
    if (!check_version(database, path, migrations())) return std::string("later");
    return text_of(database, "PRAGMA integrity_check(1)");
  });
  return found && *found == "ok";
}

}  // namespace

bool backup_is_due(const std::string& path, Seconds now, Seconds every) {
  struct stat found {};
  if (::stat(backup_path(path, 1).c_str(), &found) != 0) return true;
  const Seconds age = now - found.st_mtime;
  return age >= every || age < 0;
}

Result<void> rotate_backups(const std::string& path, int keep) {
  for (int number = kMaxNumber; number >= keep; --number)
    ::unlink(backup_path(path, number).c_str());
  for (int number = keep - 1; number >= 0; --number) {
    const std::string from = backup_path(path, number);
    if (::rename(from.c_str(), backup_path(path, number + 1).c_str()) != 0 && errno != ENOENT)
      return fail(system_text(from, errno));
  }
  return {};
}

std::string use_newest_backup(const std::string& path) {
  for (int number = 1; number <= kMaxNumber; ++number) {
    const std::string backup = backup_path(path, number);
    struct stat found {};
    if (::stat(backup.c_str(), &found) != 0 || !is_good(backup)) continue;
    std::error_code error;
    std::filesystem::copy_file(backup, path, error);
    if (!error) return fmt::format(", from {}", backup);
    ::unlink(path.c_str());
    return fmt::format(" ({} could not be copied: {})", backup, error.message());
  }
  return {};
}

}  // namespace rubato::store

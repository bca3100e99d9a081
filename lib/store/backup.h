// SPDX-License-Identifier: GPL-2.0-or-later
// Backups of the database beside it: PATH.backup-1 is the newest.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/base/units.h"

namespace rubato::store {

/// True if no backup is younger than `every`. A backup of the future counts as old.
[[nodiscard]] bool backup_is_due(const std::string& path, Seconds now, Seconds every);

/// Makes the new copy `PATH.backup-0` number 1. Each older backup gets the next number, and only
/// `keep` of them stay.
[[nodiscard]] Result<void> rotate_backups(const std::string& path, int keep);

/// Copies the newest backup that opens and passes the integrity check to `path`. Returns what it
/// did as a part of a sentence, "" if there is no backup: ", from the backup of ...".
[[nodiscard]] std::string use_newest_backup(const std::string& path);

}  // namespace rubato::store

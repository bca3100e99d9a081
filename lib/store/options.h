// SPDX-License-Identifier: GPL-2.0-or-later
// Options of a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/units.h"
#include "lib/store/plausibility.h"

namespace rubato::store {

/// Retention. Records beyond a limit are deleted, oldest first.
struct Retention {
  Seconds max_age = Seconds{180} * 86400;
  std::int64_t samples_a_kind = 2000;  ///< per kind; flagged ones have their own limit
  std::int64_t samples = 1'000'000;
  std::int64_t jobs = 100'000;
  std::int64_t decisions = 100'000;
  std::int64_t runs = 100'000;
  std::int64_t imported = 100'000;  ///< rows of imported profiles
  Seconds every = 3600;             ///< interval of the check ...
  std::int64_t after = 100'000;     ///< ... and after this many records
};

struct StoreOptions {
  std::string folder;         ///< absolute; created if its parent exists
  std::string vfs;            ///< SQLite's VFS; "" for its default
  std::optional<bool> local;  ///< overrides the test of the file system (`is_local`)
  PlausibilityBounds bounds;
  Retention retention;
  bool orders = true;                  ///< accepts orders about profiles (orders.h)
  std::size_t queue_capacity = 16384;  ///< records; further ones are dropped
  std::size_t batch_size = 2000;       ///< a transaction starts when this many records wait ...
  std::chrono::milliseconds batch_interval{1000};   ///< ... or the first one has waited this long
  std::chrono::milliseconds retry_interval{10000};  ///< after a failure
  std::chrono::milliseconds busy_timeout{250};      ///< for a lock held by a reader
  /// A day: a damaged file whose pages cannot be read loses a day of reports at most.
  Seconds backup_every = 86400;
  /// Three: a fault that is noticed after a weekend still has a good copy.
  int backups = 3;
};

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// What a store is told when it starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/units.h"
#include "lib/store/plausibility.h"

namespace rubato::store {

/// What is kept. Whatever is above a bound goes, the oldest first.
struct Retention {
  Seconds max_age = Seconds{180} * 86400;
  std::int64_t samples_a_kind = 2000;  ///< flagged ones are counted apart
  std::int64_t samples = 1'000'000;
  std::int64_t jobs = 100'000;
  std::int64_t decisions = 100'000;
  std::int64_t runs = 100'000;
  std::int64_t imported = 100'000;  ///< rows of profiles
  Seconds every = 3600;             ///< looked at so often ...
  std::int64_t after = 100'000;     ///< ... and after so many records
};

struct StoreOptions {
  std::string folder;         ///< absolute; made if its parent is there
  std::string vfs;            ///< SQLite's file layer; "" for its default
  std::optional<bool> local;  ///< instead of asking the file system (`is_local`)
  PlausibilityBounds bounds;
  Retention retention;
  bool orders = true;                               ///< takes orders about profiles (orders.h)
  std::size_t queue_capacity = 16384;               ///< records; beyond it they are dropped
  std::size_t batch_size = 2000;                    ///< a transaction begins when so many wait ...
  std::chrono::milliseconds batch_interval{1000};   ///< ... or the first of them so long
  std::chrono::milliseconds retry_interval{10000};  ///< after a failure
  std::chrono::milliseconds busy_timeout{250};      ///< for a lock that a reader holds
};

}  // namespace rubato::store

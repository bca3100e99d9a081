// SPDX-License-Identifier: GPL-2.0-or-later
// The time of day, handed in by the caller: nothing in the store asks the machine for it.
#pragma once

#include <ctime>

#include "lib/base/units.h"

namespace rubato::store {

/// May be asked from any thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  /// Unix seconds.
  [[nodiscard]] virtual Seconds now() const = 0;
};

/// The clock of the machine.
class SystemClock : public Clock {
 public:
  [[nodiscard]] Seconds now() const override { return std::time(nullptr); }
};

}  // namespace rubato::store

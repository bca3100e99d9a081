// SPDX-License-Identifier: GPL-2.0-or-later
// Units and identities used everywhere in the library.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace rubato {

/// A point in time (Unix seconds) or a length of time, in whole seconds: the grain of Slurm's own
/// records. Sums are made with `add_seconds`, which saturates at `kForever`.
using Seconds = std::int64_t;

/// Later than any time a scheduler deals with; an unlimited time limit ends here.
inline constexpr Seconds kForever = std::numeric_limits<Seconds>::max() / 4;

/// Memory in MiB, the unit of RealMemory in slurm.conf.
using MiB = std::int64_t;

/// Slurm's job id.
using JobId = std::uint32_t;

/// A job for as long as it waits or runs: ids are used again after MaxJobId, and a requeued job
/// has a new submit time.
struct JobKey {
  JobId id = 0;
  Seconds submit = 0;

  // clang-tidy 14 takes the implied comparison with 0 for a null pointer.
  auto operator<=>(const JobKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// `a + b`, saturating at kForever. Both at least 0.
[[nodiscard]] constexpr Seconds add_seconds(Seconds a, Seconds b) {
  return (a >= kForever || b >= kForever - a) ? kForever : a + b;
}

}  // namespace rubato

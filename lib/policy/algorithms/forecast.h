// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 2, what a job itself says of its speed and of the work it still has to do.
#pragma once

#include <optional>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/throughput_forecasts.h"

namespace rubato {

/// Whose measurements tell of the job; an empty job_type for one that names none.
[[nodiscard]] ProfileName profile_of(const Job& job, const Config& config);

/// Work that is left, in efficient samples: its quotient by Forecast::goodput() is a time. At least
/// 1. Stated work counts as far as the statements of the account held so far (statement_factor).
/// nullopt if the job states none and its loss does not show it either, or if it did more than
/// kStatementSlack times as much.
[[nodiscard]] std::optional<double> work_left(const Snapshot& snapshot, const Job& job);
/// Efficient samples done.
[[nodiscard]] double work_done(const Snapshot& snapshot, const Job& job);

/// The gradient noise of the work that a job still has to do (lasting_noise): a batch is chosen at
/// the start and kept to the end, and noise grows on the way. That of its reports where no more is
/// known; nullopt if neither it nor a job of its profile reported any.
[[nodiscard]] std::optional<double> noise_ahead(const Snapshot& snapshot, const Job& job,
                                                const ProfileName& profile);

/// Whether the time that a job still needs can be counted on.
struct Predictability {
  bool predictable = false;
  bool measured = false;  ///< by its own forecasts; else by what is known of its job type
};

/// A job is predictable by the error of its own forecasts (lib/model/progress/predictability.h).
/// While too few of them could be judged, or it has not run yet, its job type speaks for it:
/// predictable if the speed is known (`known_speed`) and its jobs were so far.
[[nodiscard]] Predictability predictability(const Snapshot& snapshot, const Job& job,
                                            const ProfileName& profile, bool known_speed);

/// Seconds until a running job ends: as `forecasts` know exactly; by its own forecast, unless these
/// were wrong so far; by the rate of its last report where it made none; else as long again as it
/// has run so far (at least a minute). Never beyond its time limit, at least 1.
[[nodiscard]] double seconds_left(const Snapshot& snapshot, const Job& job,
                                  const ThroughputForecasts& forecasts, Seconds now);

}  // namespace rubato

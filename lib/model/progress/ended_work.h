// SPDX-License-Identifier: GPL-2.0-or-later
// How much work the jobs of a profile did: what is expected of one that does not tell its own.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "lib/core/progress_history.h"
#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// Maximum number of profiles, and of ended jobs of each; the oldest are dropped.
inline constexpr std::size_t kMaxWorkProfiles = 256;
inline constexpr std::size_t kMaxEndedJobs = 64;
/// From fewer ended jobs nothing is expected.
inline constexpr std::size_t kMinEndedJobs = 5;
/// Nothing is expected either where the standard deviation of the logarithms of the works is
/// larger. Without history a job counts as half done. The error of that guess, in logarithms, has a
/// standard deviation of 1.8 (a logistic distribution), so history must be clearly better. On the
/// training shapes .25 to 1 are equally good, 1.5 and more are worse (docs/results/elastic.md).
inline constexpr double kMaxWorkSpread = .75;

/// Adds the efficient samples that an ended job did, above 0, to those of its profile. `profiles`
/// is sorted by account and job type and stays so.
void fold_ended_work(const ProfileName& profile, double samples, Seconds now,
                     std::vector<ProfileWork>& profiles);

/// Efficient samples that a job of the profile still has to do after `done`: before its start the
/// median of the ended jobs, then the mean of what those did that did more (mean residual life).
/// nullopt if fewer than kMinEndedJobs have ended, their works differ too much (kMaxWorkSpread), or
/// none did more.
[[nodiscard]] std::optional<double> usual_work_left(const std::vector<ProfileWork>& profiles,
                                                    const ProfileName& profile, double done);

}  // namespace rubato

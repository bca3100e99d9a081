// SPDX-License-Identifier: GPL-2.0-or-later
// What a job has done, from its reports: steps, efficient samples, and gradient noise.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/core/snapshot.h"
#include "lib/hints/types.h"
#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// What is known of the job that a report is from.
struct ReportedJob {
  ProfileName profile{};         ///< an empty job_type: it has none
  std::optional<Batch> batch{};  ///< its hint
  std::optional<Work> work{};    ///< in all
};

/// Completes a report with steps, efficiency and noise. Samples count from the report before it
/// (null: from the start), so that another batch does not change what was done. If there are fewer
/// samples than before, the job went back to a checkpoint, and all that was done shrinks alike.
[[nodiscard]] Progress counted(Progress report, const Progress* before, const ReportedJob& job);

/// Efficient samples that are left of `work`, at least 0; nullopt if that does not follow from the
/// last report: a target loss, or steps without a batch.
[[nodiscard]] std::optional<double> work_left(const Work& work, const Progress& progress);
/// Iterations done.
[[nodiscard]] double steps_done(const Progress& progress);

/// Maximum number of profiles whose noise is remembered; the oldest is dropped.
inline constexpr std::size_t kMaxNoiseProfiles = 256;
/// Adds a report's noise, after `done` efficient samples, to those of its profile. `profiles` is
/// sorted by account and job type and stays so.
void fold_noise(const ProfileName& profile, double done, double noise, Seconds time,
                std::vector<ProfileNoise>& profiles);
/// The noise that jobs of the profile had after `done` efficient samples: between two measured
/// points in proportion to ln(samples), beyond them the nearest. nullopt without any.
[[nodiscard]] std::optional<double> noise_at(const std::vector<ProfileNoise>& profiles,
                                             const ProfileName& profile, double done);

/// Work that is still to be done with one batch, in efficient samples.
struct WorkSpan {
  double done = 0;
  double left = 0;
  double reference = 1;  ///< batch at which every sample counts
};
/// The one noise that gives a batch the time of `span` under the noise that jobs of the profile had
/// there: 1 / (noise + reference) is the mean of that quotient over the work, whatever the batch,
/// as the time of a sample's worth of work is in proportion to (noise + batch) / (noise +
/// reference). `present`: the job's own noise after `done`, by which the profile's is scaled; none:
/// it is as theirs. nullopt without any noise.
[[nodiscard]] std::optional<double> lasting_noise(const std::vector<ProfileNoise>& profiles,
                                                  const ProfileName& profile, const WorkSpan& span,
                                                  std::optional<double> present);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 3: what a pending job is expected to need, and where that puts it inside its level.
#pragma once

#include <vector>

#include "lib/config/config.h"
#include "lib/core/snapshot.h"
#include "lib/model/models.h"

namespace rubato {

/// What a job is expected to need, against how long it has waited.
struct JobNeed {
  JobKey job;
  double gpu_seconds =
      0;  ///< at the size it asks for, on the type it is fastest on of those it accepts
  double response = 1;  ///< its response ratio: (waited + run time) / run time
  bool told = false;    ///< by its own work and speed; else its run time is what is usual
  /// Inside a level lower classes go first: gpu_seconds / response in powers of two. Jobs of one
  /// class keep Slurm's order.
  int size_class = 0;
  JobId overran = 0;  ///< a job of its user that ran past its stated work; 0: none

  bool operator==(const JobNeed&) const = default;
};

/// The needs of all pending managed jobs with GPUs, sorted by key, each job once. A job whose own
/// cannot be told is taken to run for the part of its time limit that those whose can take in the
/// median, no shorter and no longer than all of these, and within its limit. Empty while nobody's
/// can be told: then Slurm's order stands. A job whose user's job overran (overrun.h) is expected
/// to run to its time limit. A profile that one job alone measured tells nothing.
///
/// That the least GPU-seconds go first is the rule of Smith (Naval Research Logistics Quarterly 3,
/// 1956) for jobs that hold a share of a machine; the response ratio (Brinch Hansen, Operating
/// System Principles, 1973, section 5.2) lets a job rise while it waits, however much it needs.
/// `service` is sorted by key (service.h): a job is told only if it is predictable.
[[nodiscard]] std::vector<JobNeed> expected_needs(const Snapshot& snapshot, const Models& models,
                                                  const Config& config,
                                                  const std::vector<Service>& service, Seconds now);

/// Null if there is none. `needs` is sorted by key.
[[nodiscard]] const JobNeed* need_of(const std::vector<JobNeed>& needs, const JobKey& job);

}  // namespace rubato

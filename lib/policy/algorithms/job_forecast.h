// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 2: how fast a job would be on each GPU type.
#pragma once

#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/job.h"
#include "lib/model/models.h"
#include "lib/policy/algorithms/capacity.h"

namespace rubato {

/// What of a job the models ask for.
[[nodiscard]] JobSpec spec_of(const Job& job, const Config& config);

/// The whole of what a job would hold.
[[nodiscard]] Resources resources_of(const std::string& gpu_type,
                                     const std::vector<NodeShare>& shares);

/// A single job alone measured its profile. Its speed is shown, and decides about GPU types within
/// bounds (lib/model/throughput/unproven.h), but not about order and smaller sizes.
[[nodiscard]] bool unproven(const Forecast& forecast, const Config& config);

/// Its hints leave the plan or the batch open, or let it run on CPUs.
[[nodiscard]] bool has_choice(const JobSpec& job);

/// The rate of a job on so many GPUs of a type: at the best plan and batch where its hints leave
/// them open; else of the job as it is. Nothing was learnt: not to be called.
[[nodiscard]] Forecast forecast_for(const Models& models, const Config& config, const Job& job,
                                    const std::string& gpu_type, int gpus);

}  // namespace rubato

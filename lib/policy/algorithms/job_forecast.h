// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 2: how fast a job would be on each GPU type.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/core/job.h"
#include "lib/model/models.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// What of a job the models ask for: its hints, and what its reports say of it now.
[[nodiscard]] JobSpec spec_of(const RoundInput& input, const Job& job);

/// What a job asks for on so many GPUs of a type. Counts that it leaves to Slurm are 0.
[[nodiscard]] Resources asked_of(const Job& job, const std::string& gpu_type, int gpus);

/// The whole of what a job would hold.
[[nodiscard]] Resources resources_of(const std::string& gpu_type,
                                     const std::vector<NodeShare>& shares);

/// A single job alone measured its profile. Its speed is shown, and decides about GPU types within
/// bounds (lib/model/throughput/unproven.h), but not about order and smaller sizes.
[[nodiscard]] bool unproven(const Forecast& forecast, const Config& config);

/// Its hints let it be restarted with other resources.
[[nodiscard]] bool hints_consent(const Job& job);

/// Once it runs, it may be restarted or change its size live, as far as its hints and its kind say.
[[nodiscard]] bool hints_change(const Job& job);

/// Its hints leave the plan or the batch open, or let it run on CPUs.
[[nodiscard]] bool has_choice(const JobSpec& job);

/// The throughput of a job with these resources: at the best plan and batch where its hints leave
/// them open; else of the job as it is. Nothing was learnt: not to be called.
[[nodiscard]] Forecast forecast_at(const RoundInput& input, const Job& job, const Resources& at);

/// forecast_at() for what the job would ask for on so many GPUs of a type.
[[nodiscard]] Forecast forecast_for(const RoundInput& input, const Job& job,
                                    const std::string& gpu_type, int gpus);

/// Whether request and hints of a job let it run on the type.
[[nodiscard]] bool accepts_type(const Job& job, const std::string& gpu_type);

/// A job at the size it asks for, on the type it is fastest on.
struct FastestType {
  double goodput = 0;     ///< efficient samples/s, above 0
  bool unproven = false;  ///< a type among those compared is (unproven())
};
/// Of those among `types` that the job accepts. nullopt if nothing was learnt, or not for all of
/// them, or the job fits on none.
[[nodiscard]] std::optional<FastestType> fastest_type(const RoundInput& input, const Job& job,
                                                      const std::set<std::string>& types);

}  // namespace rubato

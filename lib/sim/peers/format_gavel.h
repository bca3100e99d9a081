// SPDX-License-Identifier: GPL-2.0-or-later
// Traces and throughputs of Gavel (Narayanan et al., OSDI 2020).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/sim/engine/suite.h"
#include "lib/validate/data_gavel.h"

namespace rubato::sim {

/// A trace: ten fields per line, separated by tabs, no heading. Fields: job type, command, folder,
/// name of the steps' argument, needs data, total steps, GPUs, weight, SLO, arrival in s. Arrivals
/// must not decrease. `work` is in steps.
[[nodiscard]] Result<JobList> parse_gavel_trace(std::string_view text, const std::string& name);

/// steps/s of a job on as many workers as it has GPUs, from the consolidated measurements:
/// throughput does not depend on placement. 0 if not measured.
[[nodiscard]] std::shared_ptr<const Truth> gavel_truth(const GavelData& data,
                                                       const ClusterShape& cluster);

/// `profiles`: the file of throughputs, or a folder with simulation_throughputs.json.
[[nodiscard]] Result<Suite> read_gavel_suite(const std::string& trace, const std::string& profiles,
                                             const ClusterShape& cluster);

/// Gavel's own loop, for fifo, fifo-het, las, gavel-las, gavel-wf, gavel-maxsum, gavel-makespan.
[[nodiscard]] std::optional<Result<RunMetrics>> rules_gavel(const Suite& suite,
                                                            const std::string& policy,
                                                            const RunControl& control);
/// The same loop with another policy. It decides where Gavel recomputes its shares: at the end of a
/// round of 360 s after an arrival or an end, 1920 s after the last time at the earliest. One that
/// moves_jobs() also does at the end of each round after its Policy::wake(): Gavel's shares move
/// jobs in each. Jobs keep what they have until then.
[[nodiscard]] Result<RunMetrics> host_gavel(const Suite& suite, Policy& policy,
                                            const RunControl& control);

}  // namespace rubato::sim

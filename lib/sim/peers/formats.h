// SPDX-License-Identifier: GPL-2.0-or-later
// The formats of the peers' workloads, each with the truth and the loop of its simulator.
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/sim/engine/cluster_shape.h"
#include "lib/sim/engine/suite.h"

namespace rubato::sim {

/// `profiles`: a folder with a folder per application (data_sia.h). Uses the loop of Sia's
/// simulator for the policies sia, pollux and gavel-maxsum; on one GPU type for optimus too.
[[nodiscard]] Result<Suite> read_sia_suite(const std::string& workload, const std::string& profiles,
                                           const ClusterShape& cluster);
/// The same with the rules of Pollux's simulator for sia and pollux; on one GPU type for tiresias
/// and optimus too.
[[nodiscard]] Result<Suite> read_pollux_suite(const std::string& workload,
                                              const std::string& profiles,
                                              const ClusterShape& cluster);
/// `profiles`: the folder with profiles/ and perf_model_validation/ (data_rubick.h). One GPU type.
/// Uses the loop of Rubick's simulator for the policies rubick and rubick-honest.
[[nodiscard]] Result<Suite> read_rubick_suite(const std::string& workload,
                                              const std::string& profiles,
                                              const ClusterShape& cluster);
/// No profiles: the trace contains the time of an iteration. One GPU type. Uses the loop of Muri's
/// simulator for the policy tiresias.
[[nodiscard]] Result<Suite> read_muri_suite(const std::string& workload,
                                            const std::string& profiles,
                                            const ClusterShape& cluster);
/// No profiles: the trace contains the run time of each job. One GPU type, no loop of its own.
[[nodiscard]] Result<Suite> read_tiresias_suite(const std::string& workload,
                                                const std::string& profiles,
                                                const ClusterShape& cluster);

/// The loops. Each knows its own policies, on suites of its own format.
[[nodiscard]] std::optional<Result<RunMetrics>> rules_adaptive(const Suite& suite,
                                                               const std::string& policy,
                                                               const RunControl& control);
[[nodiscard]] std::optional<Result<RunMetrics>> rules_rubick(const Suite& suite,
                                                             const std::string& policy,
                                                             const RunControl& control);
[[nodiscard]] std::optional<Result<RunMetrics>> rules_muri(const Suite& suite,
                                                           const std::string& policy,
                                                           const RunControl& control);

/// The loops with another policy. Of Pollux and Sia: rounds of 60 s, GPUs held to the end of a
/// round, and their costs of starts. Of Rubick: rounds of 60 s, 260 s for a start, and placement by
/// its shapes: small models on one node, large ones on equal parts of some nodes; no phantom GPUs.
[[nodiscard]] Result<RunMetrics> host_adaptive(const Suite& suite, Policy& policy,
                                               const RunControl& control);
[[nodiscard]] Result<RunMetrics> host_rubick(const Suite& suite, Policy& policy,
                                             const RunControl& control);

/// Sets the ideal time (alone on the cluster) of each job.
void add_ideals(RunMetrics& record, const Suite& suite);

}  // namespace rubato::sim

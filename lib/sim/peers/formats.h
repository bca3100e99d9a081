// SPDX-License-Identifier: GPL-2.0-or-later
// The formats of the peers' workloads, each with the truth and the loop of its simulator.
#pragma once

#include <string>

#include "lib/core/error.h"
#include "lib/sim/cluster_shape.h"
#include "lib/sim/suite.h"

namespace rubato::sim {

/// `profiles` is a folder with a folder for each application (data_sia.h). The loop is that of
/// Sia's simulator, where it knows all the applications, for the policies sia and gavel-maxsum.
[[nodiscard]] Result<Suite> read_sia_suite(const std::string& workload, const std::string& profiles,
                                           const ClusterShape& cluster);
/// The same with the loop of Pollux's simulator on a cluster of one type, for the policies
/// tiresias, optimus and pollux.
[[nodiscard]] Result<Suite> read_pollux_suite(const std::string& workload,
                                              const std::string& profiles,
                                              const ClusterShape& cluster);
/// `profiles` is the folder with profiles/ and perf_model_validation/ (data_rubick.h). One type of
/// GPU. The loop is that of Rubick's simulator, for the policies rubick and rubick-honest.
[[nodiscard]] Result<Suite> read_rubick_suite(const std::string& workload,
                                              const std::string& profiles,
                                              const ClusterShape& cluster);
/// No profiles: the trace says how long an iteration takes. One type of GPU. The loop is that of
/// Muri's simulator, for the policy tiresias.
[[nodiscard]] Result<Suite> read_muri_suite(const std::string& workload,
                                            const std::string& profiles,
                                            const ClusterShape& cluster);
/// No profiles: the trace says how long each job takes. One type of GPU, no loop of its own.
[[nodiscard]] Result<Suite> read_tiresias_suite(const std::string& workload,
                                                const std::string& profiles,
                                                const ClusterShape& cluster);

/// The loops. They know their own policies on suites of their own format.
[[nodiscard]] std::optional<RunRecord> rules_sia(const Suite& suite, const std::string& policy,
                                                 const RunControl& control);
[[nodiscard]] std::optional<RunRecord> rules_pollux(const Suite& suite, const std::string& policy,
                                                    const RunControl& control);
[[nodiscard]] std::optional<RunRecord> rules_rubick(const Suite& suite, const std::string& policy,
                                                    const RunControl& control);
[[nodiscard]] std::optional<RunRecord> rules_muri(const Suite& suite, const std::string& policy,
                                                  const RunControl& control);

/// Fills in each job's time alone.
void add_ideals(RunRecord& record, const Suite& suite);

}  // namespace rubato::sim

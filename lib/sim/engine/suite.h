// SPDX-License-Identifier: GPL-2.0-or-later
// A suite: workload, truth, cluster, the rules of the simulator that produced the published
// figures, and those figures. To add one, write a file suite_NAME.cc and add a line to the table in
// suites.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy.h"
#include "lib/sim/engine/run_control.h"
#include "lib/sim/engine/suite_error.h"
#include "lib/sim/engine/time_limits.h"
#include "lib/sim/engine/truth.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// A figure that others published, or that others' code produced.
struct PublishedFigure {
  std::string policy;
  std::string metric;  ///< a member of Metrics: "avg_jct_s", "makespan_s", ...
  double value = 0;    ///< seconds
  double within = 0;   ///< relative tolerance that the gate demands
  bool must = true;    ///< false: documented only
};

/// A node that goes down, or comes back. Jobs on it lose their GPUs.
struct NodeEvent {
  double time = 0;
  TypeIndex type = 0;
  GroupNodeIndex node = 0;
  bool up = false;
};

struct Suite;

/// The loop of a peer's own simulator. Replays the policies that it knows; returns nullopt for
/// others, which then run in the common engine.
using Rules = std::optional<Result<RunMetrics>> (*)(const Suite& suite, const std::string& policy,
                                                    const RunControl& control);

/// The same loop with a policy of the engine.
using Host = Result<RunMetrics> (*)(const Suite& suite, Policy& policy, const RunControl& control);

inline constexpr double kNoHorizon = 1e300;

struct Suite {
  std::string name;
  JobList jobs;
  ClusterShape cluster;
  std::shared_ptr<const Truth> truth;
  Window window;
  double origin = 0;            ///< start of the makespan
  double horizon = kNoHorizon;  ///< s; the suite ends here even if jobs still run
  bool to_horizon = false;      ///< a run lasts until the horizon, not until its last event before
  double grid = 0;              ///< s; above 0: policies in the engine decide at multiples of it
                                ///< only
  double report_s = 60;         ///< time between reports of a job
  double report_noise = 0.05;   ///< standard deviation of the logarithm of reported values
  double refit_share = 0;       ///< see PolicyContext
  Limits limits = Limits::kUsers;      ///< of jobs without a time limit
  bool types_in_order = false;         ///< see PolicyContext
  std::vector<NodeEvent> node_events;  ///< sorted by time
  Rules rules = nullptr;
  Host host = nullptr;               ///< null: the policies of `rules` only
  std::string rules_name;            ///< the simulator of `rules` and `host`, in a word
  std::shared_ptr<const void> data;  ///< additional data for `rules`
  std::vector<PublishedFigure> published;
  /// Above 1: the published figures are means over seeds. They are compared with the mean over this
  /// many seeds, 0, 1, ...
  int published_seeds = 1;
};

/// The folder of measured data, with gavel/, sia/, ...
struct SuiteEntry {
  std::string name;                    ///< the part of the argument before "@" or ":"
  char separator = 0;                  ///< '@' or ':'; 0: it takes no argument
  std::vector<std::string> arguments;  ///< the published ones; others may work too
  std::string summary;                 ///< one line, for --list
  SuiteResult<Suite> (*make)(const std::string& argument, const std::string& data_dir,
                             std::uint64_t seed);
  bool measured = true;  ///< it needs the folder of measured data; false: it is generated
};

/// All suites, sorted by name.
[[nodiscard]] std::span<const SuiteEntry> suites();
/// Whether the suite of this name, with or without an argument, needs the folder of measured data.
[[nodiscard]] bool needs_data(const std::string& name);
/// Makes a suite such as "gavel-multi-108@1.6". The error for an unknown name or argument gives the
/// nearest valid one.
[[nodiscard]] SuiteResult<Suite> make_suite(const std::string& name, const std::string& data_dir,
                                            std::uint64_t seed);

/// Runs a policy in a suite: by the suite's rules if they know it, else in the common engine.
/// "POLICY@engine" runs in the engine, "POLICY@peer" by the suite's rules, whether or not they know
/// it. RunMetrics::rules says which.
[[nodiscard]] Result<RunMetrics> run_suite(const Suite& suite, const std::string& policy,
                                           Information information, const RunControl& control);

/// The mean of each metric over the suite's `published_seeds`.
[[nodiscard]] Result<Metrics> mean_metrics(const Suite& suite, const std::string& data_dir,
                                           const std::string& policy, Information information,
                                           const RunControl& control);

/// A format of input files. To add one, write a file format_NAME.cc and add a line to formats.cc.
struct FormatEntry {
  std::string name;
  std::string summary;
  /// `profiles`: a folder or file with measured throughputs, "" if none was given. Errors begin
  /// with FILE:LINE:COLUMN and name the expected form.
  Result<Suite> (*read)(const std::string& workload, const std::string& profiles,
                        const ClusterShape& cluster);
  bool needs_profiles = false;  ///< the workload does not contain throughputs
};

[[nodiscard]] std::span<const FormatEntry> formats();

}  // namespace rubato::sim

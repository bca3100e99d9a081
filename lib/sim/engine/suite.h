// SPDX-License-Identifier: GPL-2.0-or-later
// A suite: workload, truth, cluster, the rules of the simulator whose figures were published, and
// those figures. A new one is a file suite_NAME.cc and a line of the table in suites.cc.
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
#include "lib/sim/engine/truth.h"
#include "lib/sim/engine/workload.h"

namespace rubato::sim {

/// A figure that others published, or measured with the code of others.
struct PublishedFigure {
  std::string policy;
  std::string metric;  ///< a member of Metrics: "avg_jct_s", "makespan_s", ...
  double value = 0;    ///< seconds
  double within = 0;   ///< relative, as the gate demands
  bool must = true;    ///< false: documented only
};

/// A node that goes down, or comes back. Jobs on it lose their GPUs.
struct NodeEvent {
  double time = 0;
  int type = 0;
  int node = 0;  ///< of its group
  bool up = false;
};

struct Suite;

/// The loop of a peer's own simulator. Replays the policies that it knows; nullopt for others,
/// which then run in the common engine.
using Rules = std::optional<Result<RunMetrics>> (*)(const Suite& suite, const std::string& policy,
                                                    const RunControl& control);

inline constexpr double kNoHorizon = 1e300;

struct Suite {
  std::string name;
  JobList jobs;
  ClusterShape cluster;
  std::shared_ptr<const Truth> truth;
  Window window;
  double origin = 0;            ///< where the makespan begins
  double horizon = kNoHorizon;  ///< s; the suite ends here, whatever still runs
  double grid = 0;              ///< s; above 0: policies of the engine are asked at multiples only
  double report_s = 60;         ///< time between reports of a job
  double report_noise = 0.05;   ///< standard deviation of the logarithm of reports
  std::vector<NodeEvent> node_events;  ///< by time
  Rules rules = nullptr;
  std::shared_ptr<const void> data;  ///< whatever `rules` need besides
  std::vector<PublishedFigure> published;
  /// Above 1: the published figures are no single seed's. They are compared with the mean over this
  /// many seeds, 0, 1, ...
  int published_seeds = 1;
};

/// Where measured data lie: the folder with gavel/, sia/, ...
struct SuiteEntry {
  std::string name;                    ///< before "@" or ":" of the argument
  char separator = 0;                  ///< '@' or ':'; 0: it takes no argument
  std::vector<std::string> arguments;  ///< the published ones; others may do too
  std::string summary;                 ///< one line, for --list
  SuiteResult<Suite> (*make)(const std::string& argument, const std::string& data_dir,
                             std::uint64_t seed);
  bool measured = true;  ///< it needs the folder of measured data; false: it is generated
};

/// All of them, sorted by name.
[[nodiscard]] std::span<const SuiteEntry> suites();
/// The suite of this name, with or without an argument, needs the folder of measured data.
[[nodiscard]] bool needs_data(const std::string& name);
/// "gavel-multi-108@1.6": an unknown name or argument is an error with the nearest valid one.
[[nodiscard]] SuiteResult<Suite> make_suite(const std::string& name, const std::string& data_dir,
                                            std::uint64_t seed);

/// Runs a policy in a suite: by the suite's rules where these know it, else in the common engine.
[[nodiscard]] Result<RunMetrics> run_suite(const Suite& suite, const std::string& policy,
                                           Information information, const RunControl& control);

/// The mean of each figure over the suite's `published_seeds`.
[[nodiscard]] Result<Metrics> mean_metrics(const Suite& suite, const std::string& data_dir,
                                           const std::string& policy, Information information,
                                           const RunControl& control);

/// A format of input files. A new one is a file format_NAME.cc and a line in formats.cc.
struct FormatEntry {
  std::string name;
  std::string summary;
  /// `profiles` is a folder or file with measured speeds, "" where none was given; errors begin
  /// FILE:LINE:COLUMN and name the expected form.
  Result<Suite> (*read)(const std::string& workload, const std::string& profiles,
                        const ClusterShape& cluster);
  bool needs_profiles = false;  ///< it says nothing of how fast jobs are
};

[[nodiscard]] std::span<const FormatEntry> formats();

}  // namespace rubato::sim

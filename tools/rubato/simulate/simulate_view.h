// SPDX-License-Identifier: GPL-2.0-or-later
// Text and table output of `rubato simulate`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/suite.h"
#include "tools/rubato/simulate/simulate_waits.h"

namespace rubato::tools {

/// The jobs of a run with another seed, and their results.
struct SeedResult {
  std::uint64_t seed = 0;
  sim::JobList jobs;
  std::vector<sim::JobResult> results;
};

/// A run that is complete or was stopped.
struct SimulatedRun {
  std::string suite;
  std::string policy;
  std::uint64_t seed = 0;
  int seeds = 1;           ///< above 1: the figures are means over seeds seed, seed + 1, ...
  sim::RunMetrics record;  ///< of the first seed
  sim::Metrics metrics;
  std::optional<sim::Metrics> spread;  ///< standard deviation over the seeds
  /// With several seeds: the jobs of the others, for --csv.
  std::vector<SeedResult> others;
  std::optional<Waits> waits;                   ///< of a whole run of a site's history
  std::vector<sim::PublishedFigure> published;  ///< of this policy
};

/// Seconds as text: hours from three hours on; "-" if infinite or NaN.
[[nodiscard]] std::string time_text(double seconds);
/// The same with the standard deviation over seeds, as a share of the mean; just `seconds` with one
/// seed. `sign` stands before it.
[[nodiscard]] std::string spread_text(const SimulatedRun& run, double sim::Metrics::*figure,
                                      const char* sign = "+-");
/// The unit in which a column of times up to `longest` seconds reads best: "s" or "h".
[[nodiscard]] const char* time_unit(double longest);
/// The same as spread_text() in a unit of time_unit(), without it.
[[nodiscard]] std::string spread_in(const SimulatedRun& run, double sim::Metrics::*figure,
                                    const char* unit, const char* sign);
/// `seconds` in a unit of time_unit(), without it; "-" if infinite or NaN.
[[nodiscard]] std::string time_in(double seconds, const char* unit);
/// Name of the published figure that is a number of jobs.
inline constexpr const char* kFinished = "finished";
/// A figure of `metrics` by its name; NaN for an unknown name.
[[nodiscard]] double figure_of(const sim::Metrics& metrics, const std::string& name);
/// Relative difference from the published value.
[[nodiscard]] double difference(const SimulatedRun& run, const sim::PublishedFigure& published);
[[nodiscard]] bool holds(const SimulatedRun& run, const sim::PublishedFigure& published);
/// True if no required figure fails.
[[nodiscard]] bool all_hold(const std::vector<SimulatedRun>& runs);

/// A line without its line end: rubato.simulate/1.
[[nodiscard]] std::string run_json(const SimulatedRun& run);
/// The table of runs, and below it published against simulated figures.
[[nodiscard]] std::string runs_text(const std::vector<SimulatedRun>& runs, bool color);
/// One line per job of each run, with a heading.
[[nodiscard]] std::string jobs_csv(const std::vector<SimulatedRun>& runs,
                                   const std::vector<sim::Suite>& suites);

}  // namespace rubato::tools

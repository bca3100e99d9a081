// SPDX-License-Identifier: GPL-2.0-or-later
// Text and table output of `rubato simulate`.
#pragma once

#include <string>
#include <vector>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/suite.h"

namespace rubato::tools {

/// A run that is over, or was cut.
struct SimulatedRun {
  std::string suite;
  std::string policy;
  std::uint64_t seed = 0;
  int seeds = 1;  ///< above 1: the figures are means over seeds 0, 1, ...
  sim::RunMetrics record;
  sim::Metrics metrics;
  std::vector<sim::PublishedFigure> published;  ///< of this policy
};

/// Seconds for people: hours from three hours on; "-" for none.
[[nodiscard]] std::string time_text(double seconds);
/// A figure of `metrics` by its name; NaN for no such name.
[[nodiscard]] double figure_of(const sim::Metrics& metrics, const std::string& name);
/// Relative difference from what was published.
[[nodiscard]] double difference(const SimulatedRun& run, const sim::PublishedFigure& published);
[[nodiscard]] bool holds(const SimulatedRun& run, const sim::PublishedFigure& published);
/// No figure that must hold fails.
[[nodiscard]] bool all_hold(const std::vector<SimulatedRun>& runs);

/// A line, without its end: rubato.simulate/1.
[[nodiscard]] std::string run_json(const SimulatedRun& run);
/// The table of runs, and below it what was published beside what was found.
[[nodiscard]] std::string runs_text(const std::vector<SimulatedRun>& runs, bool color);
/// A line a job of each run, with a heading.
[[nodiscard]] std::string jobs_csv(const std::vector<SimulatedRun>& runs,
                                   const std::vector<sim::Suite>& suites);

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// Time waited in a site's history and in its replays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/sim/engine/suite.h"

namespace rubato::tools {

struct SimulatedRun;

/// Waits of a group of jobs.
struct WaitGroup {
  std::string name;
  int jobs = 0;
  int restarted = 0;  ///< of these, jobs that the policy interrupted at least once
  double mean_s = 0;

  bool operator==(const WaitGroup&) const = default;
};

/// Waits from arrival to start. A job that has not started when the run ends waited until then.
struct Waits {
  std::string from;  ///< of the history, as sacct prints times
  std::string to;
  int jobs = 0;
  int waiting = 0;  ///< of these, jobs that have not started at the end
  double mean_s = 0;
  double p50_s = 0;
  double p90_s = 0;
  double p99_s = 0;
  /// At most kMaxWaitGroups each, the longest total wait first; the others are "other".
  std::vector<WaitGroup> accounts;
  std::vector<WaitGroup> sizes;  ///< by number of GPUs
  std::vector<WaitGroup> types;  ///< by job type

  bool operator==(const Waits&) const = default;
};

inline constexpr std::size_t kMaxWaitGroups = 8;

/// Sets the waits of all whole runs, over the same jobs: those that the cluster can hold and that
/// did not run already when the history began. `runs` begins with real_run().
void add_waits(std::vector<SimulatedRun>& runs, const sim::Suite& suite);

/// A sentence about waits and what Rubato would have changed.
[[nodiscard]] std::string waits_sentence(const std::vector<SimulatedRun>& runs,
                                         const sim::Suite& suite);
/// The sentence and tables; ends with an empty line.
[[nodiscard]] std::string waits_text(const std::vector<SimulatedRun>& runs,
                                     const sim::Suite& suite);
/// The same for the page, with bars.
[[nodiscard]] std::string waits_html(const std::vector<SimulatedRun>& runs,
                                     const sim::Suite& suite);

}  // namespace rubato::tools

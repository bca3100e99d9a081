// SPDX-License-Identifier: GPL-2.0-or-later
// The command line of `rubato simulate`, and its suites.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/config/config.h"
#include "lib/sim/engine/suite.h"

namespace rubato::tools {

struct SimulateOptions {
  std::vector<std::string> suites;
  std::vector<std::string> policies;
  std::string data;
  std::string workload;
  std::string history;
  bool from_sacct = false;
  std::string format;
  std::string profiles;
  std::string cluster;
  std::string seed_said;
  std::uint64_t seed = 0;
  std::string seeds_said;
  int seeds = 1;
  std::string jobs_said;
  std::size_t jobs = 0;
  std::string until_said;
  double until = 0;
  std::string config;  ///< a rubato.conf, for policies rubato and rubato-place
  std::string information_said = "learned";
  sim::Information information = sim::Information::kLearned;
  std::string limits_said;
  std::optional<sim::Limits> limits;  ///< none: those of the suite
  std::vector<std::string> json;
  bool json_said = false;
  std::string csv;
  std::string report;
  bool write_said = false;
  std::string write_workload;
  bool gates = false;
  bool list = false;
};

/// The parsed command line and its input files.
struct SimulateInput {
  std::vector<sim::Suite> suites;
  std::vector<std::string> notes;  ///< sentences about how the input was understood
};

/// Why the input could not be read.
struct InputError {
  std::string text;
  bool usage = false;  ///< the command line is wrong, not a file
};

/// What is wrong with the command line; "" if nothing. Completes `options`: numbers, the options
/// implied by --from-sacct, and defaults.
[[nodiscard]] std::string complaint(SimulateOptions& options);
/// The suites of the command line, or the workload. `publish_dir` is for --cluster=@.
[[nodiscard]] tl::expected<SimulateInput, InputError> read_input(const SimulateOptions& options,
                                                                 const std::string& publish_dir);
/// The same suite with another seed: drawn anew if it is generated, and shortened in the same way.
[[nodiscard]] tl::expected<sim::Suite, InputError> with_seed(const SimulateOptions& options,
                                                             const sim::Suite& suite,
                                                             std::uint64_t seed);
/// The rubato.conf given by --config, if any, checked against the suites. Adds sentences about
/// ignored lines to `notes`.
[[nodiscard]] tl::expected<std::optional<Config>, InputError> read_rubato_conf(
    const SimulateOptions& options, const std::vector<sim::Suite>& suites,
    std::vector<std::string>& notes);
[[nodiscard]] Result<void> check_policies(const SimulateOptions& options, const sim::Suite& suite);
/// The policies of the command line. Without any: those with published figures, else first in,
/// first out.
[[nodiscard]] std::vector<std::string> policies_for(const SimulateOptions& options,
                                                    const sim::Suite& suite);

}  // namespace rubato::tools

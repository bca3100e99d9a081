// SPDX-License-Identifier: GPL-2.0-or-later
// What `rubato simulate` was asked for, and the suites that are meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/sim/suite.h"

namespace rubato::tools {

struct SimulateOptions {
  std::vector<std::string> suites;
  std::vector<std::string> policies;
  std::string data;
  std::string workload;
  bool from_sacct = false;
  std::string format = "native";
  std::string profiles;
  std::string cluster;
  std::uint64_t seed = 0;
  std::size_t jobs = 0;
  double until = 0;
  std::string information = "learned";
  std::string solver = "auto";
  std::vector<std::string> json;
  bool json_said = false;
  std::string csv;
  std::string report;
  std::string write_workload;
  bool gates = false;
  bool list = false;
};

/// What was asked for, read.
struct SimulateInput {
  std::vector<sim::Suite> suites;
  std::vector<std::string> notes;  ///< sentences about how the input was understood
};

/// What is wrong with the command line; "" for nothing. Completes `options.data`.
[[nodiscard]] std::string complaint(SimulateOptions& options);
/// The suites of the command line, or the workload. `publish_dir` is for --cluster=@.
[[nodiscard]] Result<SimulateInput> read_input(const SimulateOptions& options,
                                               const std::string& publish_dir);
[[nodiscard]] Result<void> check_policies(const SimulateOptions& options, const sim::Suite& suite);
/// Those of the command line; without any, those with published figures, else first in, first out.
[[nodiscard]] std::vector<std::string> policies_for(const SimulateOptions& options,
                                                    const sim::Suite& suite);

}  // namespace rubato::tools

// SPDX-License-Identifier: GPL-2.0-or-later
// What became of a job that has ended: its state from Slurm, its last report, the forecast at its
// start.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/json/decisions.h"
#include "tools/shared/output.h"
#include "tools/shared/source.h"

namespace rubato::tools {

/// The end of a job as squeue shows it, for MinJobAge (300 s by default).
struct JobEnd {
  std::string state;   ///< in lower case, as "failed"
  std::string reason;  ///< Slurm's, as "NonZeroExitCode"; "" for none
  std::string exit;    ///< "exit code 3", "signal 9"; "" for exit code 0
};

/// None if `job` has not ended.
[[nodiscard]] std::optional<JobEnd> end_of(const SqueueJob& job);
/// Asks squeue for the job `label`. None if slurmctld no longer has it, or shows it not to this
/// user.
[[nodiscard]] std::optional<JobEnd> ask_for_end(const std::string& label);
/// "failed (exit code 3; NonZeroExitCode)".
[[nodiscard]] std::string end_text(const JobEnd& end);

/// "95 samples/s at its last report, after 5000 samples; forecast at its start: 120 samples/s (3
/// reports, within 22 %)". "" if the job never reported.
[[nodiscard]] std::string measured_text(const StartRecord& record);

/// Lines about what an ended run did: label and text. None where the run was not seen.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> summary_lines(
    const StartRecord& record);

}  // namespace rubato::tools

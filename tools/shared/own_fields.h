// SPDX-License-Identifier: GPL-2.0-or-later
// The fields that rqueue adds to those of squeue: one table for -o, -O, --sort and the help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/shared/job_facts.h"

namespace rubato::tools {

struct OwnField {
  const char* name;     ///< with -O and --sort: "dlrate"; with -o: %{rate}
  const char* heading;  ///< upper case, as squeue's
  const char* help;     ///< one line, no full stop
  /// Printed value; "" if unknown.
  std::string (*text)(const JobFacts& facts);
  /// Order of two jobs: negative, 0 or positive. Unknown values come last.
  int (*compare)(const JobFacts& a, const JobFacts& b);
};

/// In the order of the help.
[[nodiscard]] const std::vector<OwnField>& own_fields();

/// "dlrate" or, without `dl`, "rate"; in any case of letters. Null if there is none.
[[nodiscard]] const OwnField* own_field(std::string_view name);

/// Printed for an unknown value.
inline constexpr const char* kUnknown = "-";

[[nodiscard]] std::string text_or_unknown(const OwnField& field, const JobFacts& facts);

/// "2:03", "4:05:06", "1-02:03:04", as squeue prints the time of a job.
[[nodiscard]] std::string squeue_duration(Seconds length);
/// A time as Slurm's commands print it; SLURM_TIME_FORMAT counts as there, except "relative".
[[nodiscard]] std::string squeue_time(Seconds time);
/// samples/s with three or four significant digits: "0.512", "35.2", "1234", "81300".
[[nodiscard]] std::string throughput_text(double throughput);

}  // namespace rubato::tools

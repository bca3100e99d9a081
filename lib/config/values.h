// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, durations and names in rubato.conf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// Digits with at most one decimal point ("4", "0.25"). The error names no file or line.
[[nodiscard]] Result<double> parse_number(std::string_view text);

/// Seconds: a number, or one of Slurm's time forms MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS. A
/// plain number is in seconds (in Slurm's own time limits it is in minutes). Every part except the
/// first must be below 60, hours after days below 24.
[[nodiscard]] Result<double> parse_duration(std::string_view text);

/// MiB: a number, optionally with suffix K, M, G or T, as in Slurm. Fractions of a MiB are dropped.
[[nodiscard]] Result<double> parse_memory(std::string_view text);
/// In the form that parse_memory reads: whole GiB with G, else MiB with M.
[[nodiscard]] std::string show_memory(std::int64_t mebibytes);

/// The comma-separated items; none may be empty.
[[nodiscard]] Result<std::vector<std::string>> split_list(std::string_view text);

/// The name of a partition or GPU type: not empty, without blanks, commas, quotes, `#`, `=`,
/// backslashes or control characters.
[[nodiscard]] Result<void> check_name(std::string_view name);

/// Shortest text that `parse_number` reads as the same value; `value` must be 0 or from 1e-4 to
/// 1e15.
[[nodiscard]] std::string show_number(double value);

}  // namespace rubato

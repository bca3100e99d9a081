// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers in hints and messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// An integer from `min` (at least 0) to `max` (at most 10^18): 5000, 7e9, 1.5e6. Exact. The error
/// says what is valid, without a location.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text, std::int64_t min,
                                               std::int64_t max);

/// A finite decimal number with an optional sign and exponent: -0.5, 2.31, 1e-4.
[[nodiscard]] Result<double> parse_real(std::string_view text);

/// Shortest text that parse_count reads as `value`, with an exponent from a million on if the zeros
/// allow it: 7e9, 1.5e6, 90000. `value` must be at least 0.
[[nodiscard]] std::string show_count(std::int64_t value);

/// Shortest text that parse_real reads as the same finite value.
[[nodiscard]] std::string show_real(double value);

}  // namespace rubato

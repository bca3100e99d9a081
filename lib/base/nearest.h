// SPDX-License-Identifier: GPL-2.0-or-later
// The nearest valid choice to a mistyped word.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rubato {

/// Damerau-Levenshtein distance in bytes: the fewest insertions, deletions, substitutions and
/// swaps of neighbours that turn `a` into `b`. Unrestricted, so it is a metric (Lowrance and
/// Wagner, "An Extension of the String-to-String Correction Problem", 1975).
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The choice that `word` most likely means, in any case of its letters; the earlier one of two
/// equally near. nullopt when none is near: more than a third of the longer word would have to
/// change (two letters at least are allowed from four letters on; a common beginning to an
/// underscore is no part of it), and `word` begins no choice.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 std::span<const std::string> choices);

/// "; did you mean X?", or "" when no choice is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> choices);

/// ASCII letters in lower case; other bytes as they are. Independent of the locale.
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace rubato

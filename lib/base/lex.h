// SPDX-License-Identifier: GPL-2.0-or-later
// Lines, comments, quotes and pairs of a file written as slurm.conf is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rubato {

/// One Key=Value. `line` is that of the key, from 1.
struct ConfigPair {
  std::string key;
  std::string value;
  int line = 0;
};

/// One logical line: pairs, or an `Include FILE`. A line that breaks the grammar keeps the pairs
/// before the break, and says in `error` what is wrong at `error_line`.
struct ConfigLine {
  std::vector<ConfigPair> pairs;
  std::optional<std::string> include;
  int include_line = 0;
  std::optional<std::string> error;
  int error_line = 0;
};

/// Splits a file as Slurm does (parse_config.c): `#` starts a comment, in quotes too; a backslash
/// at the end of a line joins it to the next; elsewhere it takes the byte after it literally;
/// `Key = "value with blanks"`. Differs from Slurm where Slurm would guess: an open quote, text
/// behind a closing quote and the operators += -= *= /= are errors. Empty lines are left out.
/// Never fails as a whole; takes any bytes.
[[nodiscard]] std::vector<ConfigLine> lex_config(std::string_view text);

/// `word` for an error: bytes that are not printable ASCII or part of a valid UTF-8 sequence as
/// \xNN, cut after 60 bytes.
[[nodiscard]] std::string printable(std::string_view word);
/// The same in double quotes.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace rubato

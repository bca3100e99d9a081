// SPDX-License-Identifier: GPL-2.0-or-later
// Hints in a job's comment: free text, then ` rubato:` and key=value pairs to the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/hints.h"

namespace rubato {

/// The two parts of a comment; views into it.
struct CommentParts {
  std::string_view site;                  ///< text before `rubato:`, including the blank
  std::optional<std::string_view> hints;  ///< text after the colon; nullopt without `rubato:`
};

/// Splits at the first lower-case `rubato:` that is at the start or follows a blank.
[[nodiscard]] CommentParts split_comment(std::string_view comment);

/// Joins the parts, with a blank between if `site` does not end in one. The exact inverse of
/// split_comment.
[[nodiscard]] std::string join_comment(std::string_view site, std::string_view hints);

/// The hints of a comment; none without `rubato:`. Pairs are separated by semicolons, in any order.
/// Blanks around pairs, keys and values, empty pairs and the case of keys are ignored. There are no
/// quotes and no escapes, so a value cannot contain a semicolon. `KEY=VALUE` sets a hint, `no-KEY`
/// unsets it. The error has one line per mistake with key, reason and valid values.
[[nodiscard]] Result<Hints> parse_comment(std::string_view comment);

/// The pairs of `hints` in table order, without blanks: "gpus=1,2;no-plans". Equal hints give equal
/// bytes, and parse_comment("rubato:" + result) gives equal hints.
[[nodiscard]] std::string render_hints(const Hints& hints);

/// Replaces the hints of `comment`, or appends them. Empty hints remove them and the blank before
/// them. The site's text stays unchanged, byte for byte.
[[nodiscard]] std::string with_hints(std::string_view comment, const Hints& hints);

}  // namespace rubato

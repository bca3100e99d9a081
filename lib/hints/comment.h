// SPDX-License-Identifier: GPL-2.0-or-later
// Hints in the comment of a job: free text, then ` rubato:` and key=value pairs to the end.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/hints/hints.h"

namespace rubato {

/// The two parts of a comment; views into it.
struct CommentParts {
  std::string_view site;                  ///< all before `rubato:`, its last blank included
  std::optional<std::string_view> hints;  ///< all behind the colon; none without `rubato:`
};

/// Cuts at the first `rubato:`, in lower case, that stands at the beginning or behind a blank.
[[nodiscard]] CommentParts split_comment(std::string_view comment);

/// Puts the parts together; a blank is added when `site` does not end in one. The inverse of
/// split_comment, byte for byte.
[[nodiscard]] std::string join_comment(std::string_view site, std::string_view hints);

/// The hints of a comment; none without `rubato:`. Pairs stand between semicolons, in any order;
/// blanks around pairs, keys and values do not count, empty pairs neither; keys may stand in any
/// case. There are no quotes and no escapes: no value can hold a semicolon. `KEY=VALUE` sets,
/// `no-KEY` takes back. Each line of the error names the key, the reason and what would be right;
/// all errors come at once.
[[nodiscard]] Result<Hints> parse_comment(std::string_view comment);

/// The pairs of `hints` in the order of the table, without blanks: "gpus=1,2;no-plans". Equal
/// hints give equal bytes, and parse_comment("rubato:" + it) gives equal hints.
[[nodiscard]] std::string render_hints(const Hints& hints);

/// `comment` with its hints replaced, or added at the end; empty hints take them out together with
/// the blank before. The site's text is kept byte for byte.
[[nodiscard]] std::string with_hints(std::string_view comment, const Hints& hints);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/warnings.h"

#include <fmt/format.h>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/hints/comment.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

constexpr std::string_view kWord = "rubato";

/// Whether `text` begins with KEY= or no-KEY of a hint.
bool begins_with_hint(std::string_view text) {
  std::string key = lower(trimmed(text.substr(0, text.find_first_of("=;"))));
  if (key.starts_with("no-")) key = key.substr(3);
  return find_hint(key) != nullptr;
}

}  // namespace

std::optional<std::string> misspelt_marker(std::string_view comment) {
  if (split_comment(comment).hints) return std::nullopt;
  const std::string small = lower(comment);
  for (std::size_t at = small.find(kWord); at != std::string::npos;
       at = small.find(kWord, at + 1)) {
    if (at > 0 && !is_blank(comment[at - 1])) continue;
    const std::string_view behind = comment.substr(at + kWord.size());
    std::string_view pairs = trimmed(behind);
    const bool colon = pairs.starts_with(':');
    if (colon) pairs.remove_prefix(1);
    // Without a colon, a blank must end the word.
    if (!colon && (behind.empty() || !is_blank(behind.front()))) continue;
    if (!begins_with_hint(trimmed(pairs))) continue;
    return fmt::format("comment: {} does not begin hints; write rubato:{}",
                       in_quotes(trimmed(comment.substr(at, comment.size() - at - pairs.size()))),
                       trimmed(pairs));
  }
  return std::nullopt;
}

std::optional<std::string> signal_for_steps_only(const Hints& hints) {
  if (!hints.checkpoint || !hints.checkpoint->consents() || hints.checkpoint->batch_only) {
    return std::nullopt;
  }
  Checkpoint script = *hints.checkpoint;
  script.batch_only = true;
  return fmt::format(
      "checkpoint: Slurm sends {} to job steps only; if the batch script starts the program "
      "without srun, write checkpoint={}",
      to_text(*hints.checkpoint), to_text(script));
}

}  // namespace rubato

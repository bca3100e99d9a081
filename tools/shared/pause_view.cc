// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/pause_view.h"

#include "tools/shared/output.h"

namespace rubato::tools {

std::string pause_words(const Pause& pause) {
  std::string words = "paused";
  if (!pause.by.empty()) words += " by " + pause.by;
  if (pause.since > 0) words += " since " + format_time(pause.since);
  if (pause.until > 0) words += " until " + format_time(pause.until);
  return words;
}

}  // namespace rubato::tools

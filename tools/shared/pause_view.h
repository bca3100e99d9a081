// SPDX-License-Identifier: GPL-2.0-or-later
// A pause as commands show it, in words and in JSON.
#pragma once

#include <string>

#include "lib/json/record_description.h"
#include "lib/runtime/pause.h"

namespace rubato::tools {

/// "paused by ann since 2026-11-21T12:00:00 until 2026-11-21T13:00:00", as far as it is known.
[[nodiscard]] std::string pause_words(const Pause& pause);

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<Pause> R>
void describe(Visitor& v, R& pause) {
  v.text("by", pause.by);
  v.note("by", "user who paused Rubato; left out if not known");
  v.past("since", pause.since);
  v.note("since", "begin of the pause, seconds since 1970; left out if not known");
  v.past("until", pause.until, kAlways);
  v.note("until", "end of the pause, seconds since 1970; 0: until rubato pause --resume");
}

}  // namespace rubato::json

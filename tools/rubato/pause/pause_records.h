// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato pause`, described as those of lib/json/records.h.
#pragma once

#include <optional>

#include "lib/json/record_description.h"
#include "lib/runtime/pause.h"
#include "tools/shared/pause_view.h"

namespace rubato::tools {

inline constexpr const char* kPauseSchema = "rubato.pause/1";

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<std::optional<Pause>> R>
void describe(Visitor& v, R& pause) {
  v.yes("paused", pause.has_value(), kAlways);
  v.note("paused", "true: stock Slurm starts all jobs");
  const Pause shown = pause.value_or(Pause{});
  describe(v, shown);
}

}  // namespace rubato::json

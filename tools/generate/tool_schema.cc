// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/tool_schema.h"

#include "tools/generate/command_schema.h"
#include "tools/rubato/pause/pause_records.h"

namespace rubato {

using json::Members;

std::string pause_schema() {
  return document_schema<std::optional<Pause>>(
      command_schema(tools::kPauseSchema, "rubato pause --json", "Whether Rubato is paused."),
      Members::kOpen);
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// The summary of an ended run in one line, for AdminComment.
#pragma once

#include <string>

#include "lib/json/decisions.h"

namespace rubato {

/// "{rubato waited=400 ran=10600 gpus=2 gpu-type=a100 gpu-hours=5.89 restarts=1 samples=5000
/// rate=95 forecast=120 better=1:a100}": times in seconds, rates in samples/s. The grammar is that
/// of the annotation of a job (annotation.h); what is not known is left out. "" where the run was
/// not seen.
[[nodiscard]] std::string summary_line(const StartRecord& record);

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
// What a job hears of a change of its size, in its system_comment. Needs LockKind::kAct.
#pragma once

#include <cstdint>

#include "lib/base/units.h"
#include "lib/json/notice.h"

namespace rubato {

/// Shows a notice in the job's system_comment, in the place of the one before, with the number
/// after that one's. Returns the number; 0 if the job does not run.
std::int64_t show_notice(JobId job, Notice notice);

/// Removes the notice of a job, which may wait.
void remove_notice(JobId job);

}  // namespace rubato

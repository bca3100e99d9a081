// SPDX-License-Identifier: GPL-2.0-or-later
// A job as an ordinary user can see it where the decisions cannot be read: from squeue, and from
// what Rubato wrote into the job itself.
#pragma once

#include <string>

#include "tools/shared/output.h"
#include "tools/shared/source.h"

namespace rubato::tools {

/// Several lines; unknown values are omitted.
[[nodiscard]] std::string squeue_job_text(const SqueueJob& job, bool color);
/// The same as a JSON object, with "source": "squeue".
[[nodiscard]] Json squeue_job_json(const SqueueJob& job);

}  // namespace rubato::tools

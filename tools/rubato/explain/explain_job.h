// SPDX-License-Identifier: GPL-2.0-or-later
// A job as ordinary users see it if the decisions are unreadable: from squeue, and from Rubato's
// annotation of the job.
#pragma once

#include <string>

#include "tools/shared/output.h"
#include "tools/shared/source.h"

namespace rubato::tools {

struct ExplainedJob;  // explain_records.h

/// Several lines; unknown values are omitted.
[[nodiscard]] std::string squeue_job_text(const SqueueJob& job, bool color);
/// The same for JSON.
[[nodiscard]] ExplainedJob explained(const SqueueJob& job);

}  // namespace rubato::tools

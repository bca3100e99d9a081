// SPDX-License-Identifier: GPL-2.0-or-later
// rqueue --json: schema rubato.rqueue/1, described in rqueue(1).
#pragma once

#include <vector>

#include "tools/shared/output.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {

inline constexpr const char* kRqueueSchema = "rubato.rqueue/1";

/// The query to squeue: all fields of the document, full width.
[[nodiscard]] std::vector<FormatField> json_fields();

/// One job. The fields of `row` begin with json_fields(). Unknown values are omitted.
[[nodiscard]] Json job_json(const SqueueRow& row, const JobFacts& facts);

/// "1-02:03:04", "2:03" as seconds; nullopt for other texts ("UNLIMITED").
[[nodiscard]] std::optional<Seconds> seconds_of_duration(std::string_view text);

}  // namespace rubato::tools

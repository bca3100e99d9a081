// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of rqueue --json, from the answer of squeue.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tools/rqueue/rqueue_records.h"
#include "tools/shared/squeue_query.h"

namespace rubato::tools {

/// The query to squeue: all fields of the document, full width.
[[nodiscard]] std::vector<FormatField> json_fields();

/// One job. The fields of `row` begin with json_fields().
[[nodiscard]] RqueueJob rqueue_job(const SqueueRow& row, const JobFacts& facts);

/// "1-02:03:04", "2:03" as seconds; nullopt for other texts ("UNLIMITED").
[[nodiscard]] std::optional<Seconds> seconds_of_duration(std::string_view text);

}  // namespace rubato::tools

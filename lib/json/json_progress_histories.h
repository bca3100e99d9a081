// SPDX-License-Identifier: GPL-2.0-or-later
// The courses of jobs and job types, in the memory of snapshots, plans and the state file.
#pragma once

#include "lib/base/json_reader.h"
#include "lib/base/json_writer.h"
#include "lib/core/progress_history.h"

namespace rubato {

/// The members behind the key of the job, into an object that is open.
void write_progress_history(JsonWriter& json, const ProgressHistory& progress_history);
void write_type_predictability(JsonWriter& json, const TypePredictability& type);

/// The same members; the caller has read the key and finishes the object.
void read_progress_history(JsonObject& object, ProgressHistory& progress_history);
[[nodiscard]] TypePredictability read_type_predictability(const JsonItem& item);

}  // namespace rubato

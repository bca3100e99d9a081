// SPDX-License-Identifier: GPL-2.0-or-later
// Resolved hints of a job as JSON: values as they stand in a comment, GPU types as lists.
#pragma once

#include "lib/base/json_reader.h"
#include "lib/base/json_writer.h"
#include "lib/hints/request.h"

namespace rubato::json {

/// The members of an object; those with the default value are left out.
void write_hints(JsonWriter& json, const ResolvedHints& hints);
[[nodiscard]] ResolvedHints read_hints(const JsonItem& item);

}  // namespace rubato::json

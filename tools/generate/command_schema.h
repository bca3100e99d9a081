// SPDX-License-Identifier: GPL-2.0-or-later
// What all documents of the commands have: meta, warnings and errors.
#pragma once

#include "lib/base/json_value.h"

namespace rubato {

/// The schema of a command's document without members of its own. Errors print such a document.
[[nodiscard]] JsonValue command_schema(const char* id, const char* title, const char* what);

}  // namespace rubato

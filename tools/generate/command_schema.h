// SPDX-License-Identifier: GPL-2.0-or-later
// What all documents of the commands have: meta, warnings and errors.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rubato {

/// The schema of a command's document without members of its own. Errors print such a document.
[[nodiscard]] nlohmann::ordered_json command_schema(const char* id, const char* title,
                                                    const char* what);

}  // namespace rubato

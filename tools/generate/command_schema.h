// SPDX-License-Identifier: GPL-2.0-or-later
// What all documents of the commands have: meta, warnings and errors.
#pragma once

#include <string>

#include "lib/base/json_value.h"
#include "tools/generate/schema_writer.h"

namespace rubato {

/// The schema of a command's document without members of its own. Errors print such a document.
[[nodiscard]] JsonValue command_schema(const char* id, const char* title, const char* what);

/// The text of the schema of a document that is not one of these: `members` with a head.
[[nodiscard]] std::string file_schema(const char* id, const char* title, const char* what,
                                      const JsonValue& members);

/// The text of `schema` with the members of `Record`. Documents of errors have none of them.
template <typename Record>
[[nodiscard]] std::string document_schema(JsonValue schema, json::Members members) {
  schema["properties"].update(json::SchemaWriter::object_schema<Record>(members)["properties"]);
  return json_text(schema, 2) + "\n";
}

}  // namespace rubato

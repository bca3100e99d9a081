// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/json_documents.h"

#include <fmt/format.h>

#include "lib/base/json_value.h"

namespace rubato::json {

std::optional<std::string> read_document(std::string_view text, const char* schema,
                                         const std::function<void(JsonObject&)>& read) {
  const auto document = JsonValue::parse(text);
  if (!document) return fmt::format("not JSON: {}", document.error().text);
  JsonErrors errors;
  const JsonPath root;
  JsonObject object(JsonItem(*document, root, errors));
  object.required("schema", [&](const JsonItem& item) {
    const std::string found = item.text();
    if (!item.failed() && found != schema) {
      item.error(fmt::format("expected \"{}\", found {}", schema, json_text(JsonValue(found))));
    }
  });
  if (errors.any()) return errors.first;
  read(object);
  object.finish();
  return errors.first;
}

}  // namespace rubato::json

// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/generate/command_schema.h"

#include <string>

namespace rubato {
namespace {

using Json = JsonValue;

Json texts() { return {{"type", "array"}, {"items", {{"type", "string"}}}}; }

Json meta_schema(const char* id) {
  return {{"type", "object"},
          {"required", {"schema", "version", "generated"}},
          {"properties",
           {{"schema", {{"const", id}}},
            {"version", {{"type", "string"}, {"description", "of the program"}}},
            {"slurm_version", {{"type", "string"}}},
            {"generated", {{"type", "integer"}, {"description", "seconds since 1970"}}}}}};
}

}  // namespace

JsonValue command_schema(const char* id, const char* title, const char* what) {
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"$id", id},
          {"title", title},
          {"description", std::string(what) +
                              " New members may be added; the number in the schema changes when a "
                              "member is removed or changes its meaning."},
          {"type", "object"},
          {"required", {"meta", "warnings", "errors"}},
          {"properties", {{"meta", meta_schema(id)}, {"warnings", texts()}, {"errors", texts()}}}};
}

std::string file_schema(const char* id, const char* title, const char* what,
                        const JsonValue& members) {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"$id", id},
                 {"title", title},
                 {"description", what}};
  schema.update(members);
  return json_text(schema, 2) + "\n";
}

}  // namespace rubato

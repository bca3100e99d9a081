// SPDX-License-Identifier: GPL-2.0-or-later
// The schemas of docs/schema that are made from descriptions. After a change of a description
// `make schema-docs` writes them again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/generate/schema_documents.h"

namespace rubato {
namespace {

std::string kept_schema(std::string_view name) {
  const char* from_environment = std::getenv("RUBATO_SOURCE_DIR");
  const std::filesystem::path source =
      from_environment != nullptr ? from_environment : RUBATO_SOURCE_DIR;
  const std::string file = "rubato." + std::string(name) + ".1.json";
  std::ifstream in(source / "docs/schema" / file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RecordSchema, KeptSchemasAreThoseOfTheDescriptions) {
  for (const SchemaDocument& document : kSchemaDocuments)
    EXPECT_EQ(kept_schema(document.name), document.text()) << document.name;
}

}  // namespace
}  // namespace rubato

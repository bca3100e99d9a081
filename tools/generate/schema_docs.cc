// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the schemas: `schema_docs FOLDER`.
#include <cstdio>
#include <fstream>
#include <string>

#include "tools/generate/schema_documents.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: schema_docs FOLDER\n", stderr);
    return 2;
  }
  for (const rubato::SchemaDocument& document : rubato::kSchemaDocuments) {
    const std::string path =
        std::string(argv[1]) + "/rubato." + std::string(document.name) + ".1.json";
    std::ofstream file(path, std::ios::binary);
    file << document.text();
    file.close();
    if (file) continue;
    std::perror(path.c_str());
    return 1;
  }
  return 0;
}

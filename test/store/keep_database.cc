// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the golden database of the current schema version: keep_database FOLDER makes
// FOLDER/schema-N.db. Run it once, when N is new.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "lib/store/schema.h"
#include "lib/store/session.h"
#include "test/store/kept_content.h"

int main(int argc, char** argv) {
  using namespace rubato;
  if (argc != 2) {
    std::fputs("usage: keep_database FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  const std::string file = folder + "/schema-" + std::to_string(store::kSchemaVersion) + ".db";
  store::StoreOptions options;
  options.folder = folder + "/keep_database.making";
  std::vector<std::string> notes;
  auto written = store::Session::open(options, test::kKeptTime, notes).and_then([&](auto session) {
    return session->write(test::kept_entries(store::kSchemaVersion))
        .and_then([&](const store::WriteCounts&) { return session->copy_to(file, 0644); });
  });
  std::error_code ignored;
  std::filesystem::remove_all(options.folder, ignored);
  if (!written) {
    std::fprintf(stderr, "keep_database: %s\n", written.error().text.c_str());
    return 1;
  }
  std::printf("%s\n", file.c_str());
  return 0;
}

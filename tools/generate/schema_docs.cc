// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the schema of a document: `schema_docs decisions|plan|snapshot|stats`.
#include <cstdio>
#include <string>
#include <string_view>

#include "tools/generate/record_schema.h"
#include "tools/generate/statistics_schema.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "decisions") {
    text = rubato::decisions_schema();
  } else if (what == "snapshot") {
    text = rubato::snapshot_schema();
  } else if (what == "plan") {
    text = rubato::plan_schema();
  } else if (what == "stats") {
    text = rubato::statistics_schema();
  } else {
    std::fputs("usage: schema_docs decisions|plan|snapshot|stats\n", stderr);
    return 2;
  }
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Prints the schema of a document: `schema_docs NAME`.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>

#include "tools/generate/models_schema.h"
#include "tools/generate/record_schema.h"
#include "tools/generate/statistics_schema.h"

namespace {

struct SchemaDocument {
  std::string_view name;
  std::string (*text)();
};

constexpr SchemaDocument kDocuments[] = {
    {"decisions", &rubato::decisions_schema},       {"models", &rubato::models_schema},
    {"models-curve", &rubato::models_curve_schema}, {"models-fit", &rubato::models_fit_schema},
    {"models-fits", &rubato::models_fits_schema},   {"plan", &rubato::plan_schema},
    {"snapshot", &rubato::snapshot_schema},         {"stats", &rubato::statistics_schema},
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc == 2 ? argv[1] : "";
  const auto* const found =
      std::find_if(std::begin(kDocuments), std::end(kDocuments),
                   [&](const SchemaDocument& document) { return document.name == name; });
  if (found == std::end(kDocuments)) {
    std::string names;
    for (const SchemaDocument& document : kDocuments)
      names.append(names.empty() ? "" : "|").append(document.name);
    std::fprintf(stderr, "usage: schema_docs %s\n", names.c_str());
    return 2;
  }
  const std::string text = found->text();
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a format of rqueue and as squeue's output: a Format that its own text
// reproduces, rows with the values read, or errors. The first byte chooses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/rqueue/rqueue_sort.h"
#include "tools/shared/format.h"
#include "tools/shared/squeue_query.h"

using rubato::Result;
using rubato::tools::Format;

namespace {

void need(bool holds) {
  if (!holds) std::abort();
}

void check(const Result<Format>& format, Result<Format> (*parse)(std::string_view),
           std::string (*render)(const Format&)) {
  if (!format) return need(!format.error().text.empty());
  const auto again = parse(render(*format));
  need(again.has_value() && *again == *format);
}

void check_answer(const std::string& text) {
  const auto sections = rubato::tools::read_squeue(text, "@@", 2);
  if (!sections) return need(!sections.error().text.empty());
  std::size_t size = 0;
  for (const auto& section : *sections) {
    for (const auto& row : section.rows) {
      need(row.fields.size() == 1);
      size += row.job_id.size() + row.fields[0].size();
    }
  }
  need(size <= text.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato::tools;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      check(parse_short_format(text), &parse_short_format, &render_short_format);
      break;
    case 1:
      check(parse_long_format(text), &parse_long_format, &render_long_format);
      break;
    case 2:
      check_answer(text);
      break;
    default:
      if (const auto order = parse_sort(text)) need(sort_fields(*order).size() <= text.size());
  }
  return 0;
}

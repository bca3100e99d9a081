// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a file that slurmctld publishes or keeps: an error with a text, or a document
// that its own text reproduces.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/json/decisions.h"
#include "lib/json/models_fit.h"
#include "lib/json/models_table.h"
#include "lib/json/period.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// The text that was read has one form only: reading it once more gives the same text.
template <typename Read, typename Write>
void check(std::string_view text, Read read, Write write) {
  const auto found = read(text);
  if (!found) return require(!found.error().text.empty());
  const std::string once = write(*found);
  const auto again = read(once);
  require(again.has_value());
  require(write(*again) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto to_text = [](const auto& document) { return rubato::to_json(document); };
  check(text, rubato::decisions_from_json, to_text);
  check(text, rubato::models_from_json, to_text);
  check(text, rubato::models_fit_from_json, to_text);
  check(
      text, [](std::string_view bytes) { return rubato::Periods::from_json(bytes); },
      [](const rubato::Periods& periods) { return periods.text(); });
  return 0;
}

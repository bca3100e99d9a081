// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a snapshot: an error with a text, or a snapshot that its own text reproduces.
// Then a round makes a plan, which its own text also reproduces.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/json/json.h"
#include "lib/policy/round.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto snapshot = rubato::snapshot_from_json(text);
  if (!snapshot) {
    require(!snapshot.error().text.empty());
    // Reads the same bytes as the other documents.
    require(!rubato::memory_from_json(text, rubato::Snapshot()) ||
            text.find("rubato.state/1") != std::string_view::npos);
    return 0;
  }
  const auto again = rubato::snapshot_from_json(rubato::to_json(*snapshot));
  require(again && *again == *snapshot);
  const rubato::Plan plan =
      rubato::round(*snapshot, rubato::Models(), rubato::Config(), snapshot->taken);
  const auto plan_again = rubato::plan_from_json(rubato::to_json(plan, *snapshot), *snapshot);
  require(plan_again && *plan_again == plan);
  return 0;
}

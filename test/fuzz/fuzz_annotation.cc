// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a system_comment: none or one annotation, which its own text reproduces. To
// replace and to remove it leaves the rest of the text as it is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/json/annotation.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view segment = rubato::segment_text(text);
  require(text.find(segment) != std::string_view::npos);
  const std::string without = rubato::with_annotation(text, nullptr);
  require(rubato::segment_text(without).empty());
  require(rubato::with_annotation(without, nullptr) == without);
  const auto found = rubato::find_annotation(text);
  if (!found) return 0;
  const std::string rendered = rubato::render_annotation(*found);
  require(rendered.size() <= rubato::kMaxAnnotationLength);
  // Long words may be left out, once.
  const auto again = rubato::find_annotation(rendered);
  require(again && rubato::render_annotation(*again) == rendered);
  const std::string replaced = rubato::with_annotation(text, &*found);
  require(rubato::segment_text(replaced) == rendered);
  require(rubato::with_annotation(replaced, &*found) == replaced);
  return 0;
}

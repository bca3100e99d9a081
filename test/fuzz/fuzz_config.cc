// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a rubato.conf that may include itself: a Config that its own dump reproduces,
// or errors. The first byte enables test-only options.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lib/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bool testing = size > 0 && data[0] % 2 == 1;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const rubato::MemoryFileSystem files(rubato::MemoryFileSystem::Files{{"self", text}});
  const auto config = rubato::parse_config(text, "self", testing, &files);
  if (!config) return config.error().text.empty() ? (std::abort(), 0) : 0;
  const auto again = rubato::parse_config(rubato::dump_config(*config), "dump", true);
  if (!again || *again != *config) std::abort();
  return rubato::config_json(*config).empty() ? (std::abort(), 0) : 0;
}

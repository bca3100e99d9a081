// SPDX-License-Identifier: GPL-2.0-or-later
// Number of random inputs for tests that draw them without rapidcheck.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace rubato::test {

/// `usual`, multiplied by RUBATO_SEEDS if it is set (`make check-seeds`).
inline std::uint64_t seeds(std::uint64_t usual) {
  const char* factor = std::getenv("RUBATO_SEEDS");  // NOLINT(concurrency-mt-unsafe)
  if (factor == nullptr) return usual;
  const std::uint64_t times = std::strtoull(factor, nullptr, 10);
  return times > 0 ? usual * times : usual;
}

}  // namespace rubato::test

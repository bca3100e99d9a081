// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rubato {

std::uint64_t hash_bytes(const void* data, std::size_t size, std::uint64_t seed) {
  return XXH64(data, size, seed);
}

}  // namespace rubato

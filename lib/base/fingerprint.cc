// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/fingerprint.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

namespace rubato {

std::string fingerprint(std::string_view text) {
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

}  // namespace rubato

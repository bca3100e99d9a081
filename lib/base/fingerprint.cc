// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/fingerprint.h"

#include <fmt/format.h>

#include "lib/base/hash.h"

namespace rubato {

std::string fingerprint(std::string_view text) {
  return fmt::format("{:016x}", hash_bytes(text.data(), text.size()));
}

}  // namespace rubato

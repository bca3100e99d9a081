// SPDX-License-Identifier: GPL-2.0-or-later
// What the kept databases hold: schema-N.db was written by `keep_database` when N was new.
#pragma once

#include <vector>

#include "lib/store/reader.h"
#include "lib/store/records.h"

namespace rubato::test {

inline constexpr Seconds kKeptTime = 1767225600;

[[nodiscard]] std::vector<store::Entry> kept_entries();

/// Fails the test where the reader finds something else than `kept_entries`.
void expect_kept_content(const store::Reader& reader);

}  // namespace rubato::test

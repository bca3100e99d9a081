// SPDX-License-Identifier: GPL-2.0-or-later
// What the kept databases hold: schema-N.db was written by `keep_database` when N was new.
#pragma once

#include <vector>

#include "lib/store/reader.h"
#include "lib/store/records.h"

namespace rubato::test {

inline constexpr Seconds kKeptTime = 1767225600;

/// What the database of schema `version` has been given.
[[nodiscard]] std::vector<store::AnyRecord> kept_entries(int version);

/// Fails the test where the reader finds something else than `kept_entries(version)`.
void expect_kept_content(const store::Reader& reader, int version);

}  // namespace rubato::test

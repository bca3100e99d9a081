// SPDX-License-Identifier: GPL-2.0-or-later
// The content of the golden databases: `keep_database` wrote schema-N.db when N was new.
#pragma once

#include <vector>

#include "lib/store/reader.h"
#include "lib/store/records.h"

namespace rubato::test {

inline constexpr Seconds kKeptTime = 1767225600;

/// The records written to the database of schema `version`.
[[nodiscard]] std::vector<store::AnyRecord> kept_entries(int version);

/// Fails the test if the reader's content differs from `kept_entries(version)`.
void expect_kept_content(const store::Reader& reader, int version);

}  // namespace rubato::test

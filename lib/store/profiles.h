// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles shared between sites: aggregated measurements of jobs, as JSON or CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/measured_row.h"
#include "lib/store/records.h"

namespace rubato::store {

inline constexpr const char* kProfilesSchema = "rubato.profiles/1";
/// Maximum number of rows in a file.
inline constexpr std::size_t kMaxProfiles = 100'000;

/// Orders by job type, account, GPU type, GPUs, nodes, plan, batch, cores, workers, servers, their
/// cores. No two rows of a list are equal in these.
[[nodiscard]] bool profile_before(const ProfileRow& a, const ProfileRow& b);

/// The row in the form that models use. Not usable() if every sample is flagged.
[[nodiscard]] MeasuredRow measured_row(const ProfileRow& row);

/// {"schema":"rubato.profiles/1","profiles":[...]} with one row per line, sorted, and a final
/// newline. Omits unknown members, and rows without a usable sample.
[[nodiscard]] std::string profiles_to_json(std::vector<ProfileRow> rows);
/// The same as CSV with a heading (RFC 4180, LF).
[[nodiscard]] std::string profiles_to_csv(std::vector<ProfileRow> rows);

/// Reads either format; writing the result gives the same bytes. Rows may be in any order. The
/// whole file is checked. The first error names `name`, the location (member, or line and column),
/// the word and a correct form.
[[nodiscard]] Result<std::vector<ProfileRow>> profiles_from_json(std::string_view text,
                                                                 const std::string& name);
[[nodiscard]] Result<std::vector<ProfileRow>> profiles_from_csv(std::string_view text,
                                                                const std::string& name);
/// JSON if the text begins with a brace, else CSV.
[[nodiscard]] Result<std::vector<ProfileRow>> profiles_from(std::string_view text,
                                                            const std::string& name);

}  // namespace rubato::store

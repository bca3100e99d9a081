// SPDX-License-Identifier: GPL-2.0-or-later
// Profiles as sites share them: aggregated measurements of jobs, as JSON or CSV.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/measured_row.h"
#include "lib/store/records.h"

namespace rubato::store {

inline constexpr const char* kProfilesSchema = "rubato.profiles/1";
/// Most rows of one file.
inline constexpr std::size_t kMaxProfiles = 100'000;

/// By job type, account, GPU type, GPUs, nodes, plan, batch, cores, workers, servers, their cores:
/// no two rows of a list are equal in these.
[[nodiscard]] bool profile_before(const ProfileRow& a, const ProfileRow& b);

/// What a model is fitted to. Not usable() where every sample is flagged.
[[nodiscard]] MeasuredRow measured_row(const ProfileRow& row);

/// {"schema":"rubato.profiles/1","profiles":[...]} with a row a line, sorted, and a newline.
/// Members that are not known are left out. Rows without a usable sample too.
[[nodiscard]] std::string profiles_to_json(std::vector<ProfileRow> rows);
/// The same as a table with a heading (RFC 4180, LF).
[[nodiscard]] std::string profiles_to_csv(std::vector<ProfileRow> rows);

/// Reads either back: writing what was read gives the same bytes. Rows in any order. All of the
/// file is checked: the first error names `name`, the place (member, or line and column), the word
/// and a correct form.
[[nodiscard]] Result<std::vector<ProfileRow>> profiles_from_json(std::string_view text,
                                                                 const std::string& name);
[[nodiscard]] Result<std::vector<ProfileRow>> profiles_from_csv(std::string_view text,
                                                                const std::string& name);
/// JSON where the text begins with a brace, a table otherwise.
[[nodiscard]] Result<std::vector<ProfileRow>> profiles_from(std::string_view text,
                                                            const std::string& name);

}  // namespace rubato::store

// SPDX-License-Identifier: GPL-2.0-or-later
// Lists with a record for each profile, sorted by account and job type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/model/throughput/throughput_kernel.h"

namespace rubato {

/// By which the lists are sorted; of a record, or of a ProfileName.
template <typename Named>
[[nodiscard]] auto profile_key(const Named& one) {
  return std::tie(one.account, one.job_type);
}

/// Where the record of the profile is, or would be.
template <typename Record>
[[nodiscard]] std::size_t profile_place(const std::vector<Record>& list,
                                        const ProfileName& profile) {
  const auto at = std::ranges::lower_bound(
      list, profile_key(profile), [](const auto& a, const auto& b) { return a < b; },
      [](const Record& one) { return profile_key(one); });
  return static_cast<std::size_t>(at - list.begin());
}

/// The record of the profile; null if there is none.
template <typename Record>
[[nodiscard]] const Record* find_profile(const std::vector<Record>& list,
                                         const ProfileName& profile) {
  const std::size_t at = profile_place(list, profile);
  return at < list.size() && profile_key(list[at]) == profile_key(profile) ? &list[at] : nullptr;
}

/// The record of the profile, which is made if there is none. Of more than `most` profiles the one
/// that was updated the longest ago is dropped, of equal ones the first.
template <typename Record>
[[nodiscard]] Record& profile_entry(std::vector<Record>& list, const ProfileName& profile,
                                    std::size_t most) {
  if (find_profile(list, profile) == nullptr) {
    if (list.size() >= most) list.erase(std::ranges::min_element(list, {}, &Record::updated));
    Record fresh;
    fresh.account = profile.account;
    fresh.job_type = profile.job_type;
    const auto place = static_cast<std::ptrdiff_t>(profile_place(list, profile));
    list.insert(list.begin() + place, std::move(fresh));
  }
  return list[profile_place(list, profile)];
}

}  // namespace rubato

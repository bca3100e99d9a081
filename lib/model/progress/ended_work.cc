// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/ended_work.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lib/base/statistics.h"

namespace rubato {
namespace {

auto name_of(const ProfileWork& one) { return std::tie(one.account, one.job_type); }
auto name_of(const ProfileName& one) { return std::tie(one.account, one.job_type); }

auto place_of(auto& profiles, const ProfileName& profile) {
  return std::lower_bound(
      profiles.begin(), profiles.end(), profile,
      [](const ProfileWork& one, const ProfileName& name) { return name_of(one) < name_of(name); });
}

/// Standard deviation of the logarithms.
double log_spread(const std::vector<double>& works) {
  const auto number = static_cast<double>(works.size());
  double mean = 0;
  for (const double work : works) mean += std::log(work) / number;
  double sum = 0;
  for (const double work : works) sum += (std::log(work) - mean) * (std::log(work) - mean);
  return std::sqrt(sum / (number - 1));
}

}  // namespace

void fold_ended_work(const ProfileName& profile, double samples, Seconds now,
                     std::vector<ProfileWork>& profiles) {
  if (profile.job_type.empty() || !(samples > 0)) return;
  auto at = place_of(profiles, profile);
  if (at == profiles.end() || name_of(*at) != name_of(profile)) {
    if (profiles.size() >= kMaxWorkProfiles) {
      profiles.erase(std::ranges::min_element(profiles, {}, &ProfileWork::updated));
      at = place_of(profiles, profile);
    }
    at = profiles.insert(at, ProfileWork{profile.account, profile.job_type, now, {}});
  }
  at->updated = now;
  if (at->ended.size() >= kMaxEndedJobs) at->ended.erase(at->ended.begin());
  at->ended.push_back({samples});
}

std::optional<double> usual_work_left(const std::vector<ProfileWork>& profiles,
                                      const ProfileName& profile, double done) {
  const auto at = place_of(profiles, profile);
  if (at == profiles.end() || name_of(*at) != name_of(profile)) return std::nullopt;
  if (at->ended.size() < kMinEndedJobs) return std::nullopt;
  std::vector<double> works;
  for (const EndedWork& one : at->ended) works.push_back(one.samples);
  if (log_spread(works) > kMaxWorkSpread) return std::nullopt;
  if (!(done > 0)) return upper_median(works);
  double left = 0;
  int longer = 0;
  for (const double work : works) {
    if (!(work > done)) continue;
    left += work - done;
    ++longer;
  }
  return longer > 0 ? std::optional(left / longer) : std::nullopt;
}

}  // namespace rubato

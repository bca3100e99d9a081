// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/ended_work.h"

#include <algorithm>
#include <cmath>

#include "lib/base/statistics.h"
#include "lib/model/progress/profile_list.h"

namespace rubato {
namespace {

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
  ProfileWork& works = profile_entry(profiles, profile, kMaxWorkProfiles);
  works.updated = now;
  if (works.ended.size() >= kMaxEndedJobs) works.ended.erase(works.ended.begin());
  works.ended.push_back({samples});
}

std::optional<double> usual_work_left(const std::vector<ProfileWork>& profiles,
                                      const ProfileName& profile, double done) {
  const ProfileWork* const known = find_profile(profiles, profile);
  if (known == nullptr || known->ended.size() < kMinEndedJobs) return std::nullopt;
  std::vector<double> works;
  for (const EndedWork& one : known->ended) works.push_back(one.samples);
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

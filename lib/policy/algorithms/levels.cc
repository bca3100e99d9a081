// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/levels.h"

#include <algorithm>
#include <cstddef>

namespace rubato {
namespace {

constexpr double kNotListed = -1;

// The rank of each value as a share of the list, 0 for the least; equal values share the least of
// their places: jobs that have had nothing yet are all first.
std::vector<double> ranks(const std::vector<std::optional<double>>& values) {
  std::vector<std::size_t> listed;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) listed.push_back(i);
  }
  std::sort(listed.begin(), listed.end(), [&](std::size_t a, std::size_t b) {
    return *values[a] != *values[b] ? *values[a] < *values[b] : a < b;
  });
  std::vector<double> rank(values.size(), kNotListed);
  const double last = listed.size() > 1 ? static_cast<double>(listed.size() - 1) : 1.0;
  for (std::size_t begin = 0; begin < listed.size();) {
    std::size_t end = begin;
    while (end < listed.size() && *values[listed[end]] == *values[listed[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) rank[listed[i]] = static_cast<double>(begin) / last;
    begin = end;
  }
  return rank;
}

int level_of(const LevelInput& job, double score, const LevelRules& rules) {
  const double borders[] = {rules.first, rules.second};
  int level = std::clamp(job.level, 0, kLevels - 1);
  while (level < kLevels - 1 && score >= borders[level] + rules.dead_band) ++level;
  while (level > 0 && score < borders[level - 1] - rules.dead_band) --level;
  return level;
}

bool starves(const LevelInput& job, const LevelRules& rules) {
  const double bound = rules.starvation * static_cast<double>(job.executed);
  return job.waited > rules.min_wait && static_cast<double>(job.waited) > bound;
}

}  // namespace

std::vector<JobLevel> levels(std::vector<LevelInput> jobs, const LevelRules& rules) {
  std::sort(jobs.begin(), jobs.end(),
            [](const LevelInput& a, const LevelInput& b) { return a.job < b.job; });
  std::vector<std::optional<double>> attained;
  std::vector<std::optional<double>> remaining;
  for (const LevelInput& job : jobs) {
    attained.emplace_back(job.attained);
    remaining.push_back(job.remaining);
  }
  const std::vector<double> served = ranks(attained);
  const std::vector<double> needed = ranks(remaining);

  const bool few = static_cast<int>(jobs.size()) < rules.min_jobs;
  std::vector<JobLevel> result;
  result.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const LevelInput& job = jobs[i];
    JobLevel level{.job = job.job};
    level.score = needed[i] == kNotListed ? served[i] : (served[i] + needed[i]) / 2;
    if (!few && !job.exempt) {
      level.level = level_of(job, level.score, rules);
      level.by_service = level_of(job, served[i], rules);
    }
    if (level.level > 0 && starves(job, rules)) {
      level.level = 0;
      level.promoted = true;
    }
    result.push_back(level);
  }
  return result;
}

}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "lib/policy/algorithms/assign.h"

namespace rubato {
namespace {

Contender single(std::vector<double> seconds) {
  return {.seconds = seconds, .gpus = std::vector<int>(seconds.size(), 1)};
}

std::vector<int> pools_of(const std::vector<TypeMatch>& matches) {
  std::vector<int> pools;
  for (const TypeMatch& match : matches) pools.push_back(match.pool);
  return pools;
}

TEST(TypeMatch, EachJobGoesWhereItIsFasterThanTheOther) {
  // Both are faster on the first pool; the second job loses less on the other.
  EXPECT_EQ(pools_of(match({single({10, 40}), single({10, 12})}, {{1, 0}, {1, 0}})),
            (std::vector<int>{0, 1}));
}

TEST(TypeMatch, AJobWaitsForAMuchFasterPool) {
  EXPECT_EQ(match({single({10, 100})}, {{4, 4 * 50.0}, {4, 0}}).front().pool, 0);
  EXPECT_EQ(match({single({10, 100})}, {{4, 4 * 95.0}, {4, 0}}).front().pool, 1);
}

TEST(TypeMatch, TheShorterJobHasMoreFollowers) {
  const auto matches = match({single({30}), single({10}), single({20})}, {{1, 0}});
  EXPECT_EQ(matches[0].followers, 0);
  EXPECT_EQ(matches[1].followers, 2);
  EXPECT_EQ(matches[2].followers, 1);
}

TEST(TypeMatch, AGangDelaysOthersMoreThanASingleGpu) {
  Contender gang{.seconds = {10}, .gpus = {4}};
  const auto matches = match({gang, single({10})}, {{4, 0}});
  EXPECT_EQ(matches[0].followers, 0);
  EXPECT_EQ(matches[1].followers, 1);
}

TEST(TypeMatch, WhatCannotRunGetsNoPool) {
  const Contender too_large{.seconds = {5, 5}, .gpus = {8, 8}};
  const auto matches = match({too_large, single({kForbidden, 7})}, {{4, 0}, {4, 0}});
  EXPECT_EQ(pools_of(matches), (std::vector<int>{-1, 1}));
  EXPECT_TRUE(match({}, {{4, 0}}).empty());
  EXPECT_EQ(match({single({})}, {}).front().pool, -1);
}

TEST(TypeMatch, OnlyTheFirstOfManyAreMatched) {
  const std::vector<Contender> many(kMaxMatched + 3, single({5, 5}));
  const auto matches = match(many, {{100, 0}, {100, 0}});
  ASSERT_EQ(matches.size(), many.size());
  EXPECT_EQ(std::count(matches.begin(), matches.end(), TypeMatch{}), 3);
  EXPECT_EQ(matches.back(), TypeMatch{});
}

// Single GPUs: the minimum sum of completion times over all assignments of jobs to machines, each
// machine running its shortest job first.
double best_sum(const std::vector<Contender>& jobs, std::size_t machines) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> to(jobs.size(), 0);
  while (true) {
    double sum = 0;
    for (std::size_t m = 0; m < machines; ++m) {
      std::vector<double> times;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (to[j] == m) times.push_back(jobs[j].seconds[m]);
      }
      std::sort(times.begin(), times.end());
      double at = 0;
      for (const double time : times) sum += at += time;
    }
    best = std::min(best, sum);
    std::size_t j = 0;
    while (j < jobs.size() && ++to[j] == machines) to[j++] = 0;
    if (j == jobs.size()) return best;
  }
}

TEST(TypeMatch, IsExactForSingleGpus) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const std::size_t machines = 1 + random() % 3;
    std::vector<Contender> jobs(1 + random() % 6);
    for (Contender& job : jobs) {
      job.gpus.assign(machines, 1);
      for (std::size_t m = 0; m < machines; ++m) {
        job.seconds.push_back(static_cast<double>(1 + random() % 20));
      }
    }
    const auto matches = match(jobs, std::vector<TypePool>(machines, TypePool{1, 0}));
    double sum = 0;
    for (std::size_t m = 0; m < machines; ++m) {
      std::vector<std::pair<int, double>> line;
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        if (matches[j].pool == static_cast<int>(m)) {
          line.emplace_back(-matches[j].followers, jobs[j].seconds[m]);
        }
      }
      std::sort(line.begin(), line.end());
      double at = 0;
      for (const auto& [place, time] : line) sum += at += time;
    }
    ASSERT_DOUBLE_EQ(sum, best_sum(jobs, machines));
  }
}

}  // namespace
}  // namespace rubato

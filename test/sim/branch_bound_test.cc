// SPDX-License-Identifier: GPL-2.0-or-later
// Branch and bound for one configuration per job, compared with exhaustive search, dynamic
// programming and GLPK. Also its bound, its state limit, and empty input.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "lib/sim/engine/noise.h"
#include "lib/sim/solver/assignment_dual.h"
#include "lib/sim/solver/branch_bound.h"
#include "test/sim/choose_exactly.h"
#include "test/sim/glpk.h"
#include "test/support/drawn_assignment.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

constexpr double kGap = 1e-4;

/// Few jobs with arbitrary costs: integers in every second problem, some above 0, some equal rows.
AssignmentProblem small_choice(std::uint64_t seed) {
  std::uint64_t next = 0;
  const auto draw = [&] { return uniform_noise(seed, 3, next++); };
  const auto below = [&](int most) { return static_cast<int>(draw() * most); };
  AssignmentProblem choice;
  const int types = 1 + below(4);
  for (int t = 0; t < types; ++t) choice.gpus.push_back(below(9));
  for (int c = below(6); c >= 0; --c) choice.columns.push_back({TypeIndex{below(types)}, below(6)});
  for (int j = below(6); j > 0; --j) {
    auto& row = choice.costs.emplace_back();
    for (std::size_t c = 0; c < choice.columns.size(); ++c) {
      const double cost = 100 * draw() - 70;
      row.push_back(seed % 2 == 0 ? std::floor(cost) : cost);
    }
    if (below(3) == 0) row = choice.costs.front();
  }
  return choice;
}

double sum_of(const AssignmentProblem& choice, const Branched& answer) {
  bool inside = false;
  const double cost = test::cost_of(choice, answer.chosen, inside);
  EXPECT_TRUE(inside);
  EXPECT_EQ(answer.chosen.size(), choice.costs.size());
  EXPECT_NEAR(answer.cost, cost, 1e-9 * std::max(1.0, -cost));
  return cost;
}

TEST(BranchBound, IsTheLeastOfAllWays) {
  for (std::uint64_t seed = 0; seed < test::seeds(1000); ++seed) {
    const AssignmentProblem choice = small_choice(seed);
    const auto found = branch_and_bound(choice, {0, 100'000});
    ASSERT_TRUE(found) << seed << ": " << found.error().text;
    std::vector<ColumnIndex> chosen;
    const double least = test::min_cost(choice, chosen);
    EXPECT_NEAR(sum_of(choice, *found), least, 1e-6) << seed;
    EXPECT_LE(found->bound, least + 1e-6) << seed << ": the bound is one";
  }
}

TEST(BranchBound, ProvesTheGapThatIsAskedFor) {
  for (std::uint64_t seed = 0; seed < test::seeds(300); ++seed) {
    const AssignmentProblem choice = small_choice(seed);
    const double gap = seed % 3 == 0 ? 0.3 : 0.02;
    const auto found = branch_and_bound(choice, {gap, 100'000});
    ASSERT_TRUE(found) << seed << ": " << found.error().text;
    std::vector<ColumnIndex> chosen;
    const double least = test::min_cost(choice, chosen);
    EXPECT_LE(found->bound, least + 1e-6) << seed;
    EXPECT_LE(sum_of(choice, *found), (1 - gap) * least + 1e-6) << seed;
  }
}

TEST(BranchBound, EveryPriceBounds) {
  for (std::uint64_t seed = 0; seed < test::seeds(300); ++seed) {
    const AssignmentProblem choice = small_choice(seed);
    const auto rows = candidates_of(choice);
    std::vector<ColumnIndex> chosen;
    const double worth = -test::min_cost(choice, chosen);
    const Prices best = best_prices(rows, choice.gpus);
    const double least = dual_worth(rows, choice.gpus, best);
    EXPECT_GE(least, worth - 1e-6) << seed;
    for (std::uint64_t number = 0; number < 20; ++number) {
      Prices prices;
      for (std::size_t t = 0; t < best.size(); ++t) {
        prices.push_back(best[t] * 2 * uniform_noise(seed, 40 + number, t));
      }
      EXPECT_GE(dual_worth(rows, choice.gpus, prices), least - 1e-6 * std::max(1.0, least)) << seed;
    }
  }
}

TEST(BranchBound, CostsWhatDynamicProgrammingFinds) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // Costs are integers, and their sum too small for the gap to reach 1.
    const AssignmentProblem choice =
        test::drawn_choice(seed, 64, seed % 2 == 0 ? 40 : 80, seed % 3 == 0);
    const auto found = branch_and_bound(choice);
    ASSERT_TRUE(found) << seed << ": " << found.error().text;
    bool inside = false;
    const double best = test::cost_of(choice, test::choose_exactly(choice), inside);
    EXPECT_EQ(sum_of(choice, *found), best) << seed;
    EXPECT_EQ(found->bound, best) << seed;
  }
}

/// GPUs that no sum of sizes can use, sizes that fill a type badly, equal worths.
TEST(BranchBound, HoldsWhereTheDualIsFarOff) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    std::uint64_t next = 0;
    const auto draw = [&] { return uniform_noise(seed, 9, next++); };
    AssignmentProblem choice{{}, {}, {31, 27}};
    for (const int gpus : {4, 6, 10, 14}) {
      choice.columns.push_back({0, gpus});
      choice.columns.push_back({1, gpus + static_cast<int>(seed % 3)});
    }
    for (int job = 0; job < 24; ++job) {
      auto& row = choice.costs.emplace_back();
      for (const AssignmentColumn& column : choice.columns) {
        row.push_back(-column.gpus * (seed % 2 == 0 ? 10 : 10 + draw()));
      }
    }
    const auto found = branch_and_bound(choice);
    ASSERT_TRUE(found) << seed << ": " << found.error().text;
    bool inside = false;
    const double best = test::cost_of(choice, test::choose_exactly(choice), inside);
    EXPECT_LE(sum_of(choice, *found), (1 - kGap) * best) << seed;
    EXPECT_LE(found->bound, best + 1e-6) << seed;
  }
}

/// GLPK's answer; nullopt if it gives up.
std::optional<std::vector<ColumnIndex>> ask_glpk(const AssignmentProblem& choice) {
  auto answer = test::glpk_assign(choice);
  if (answer) return std::move(*answer);
  EXPECT_EQ(answer.error().text, test::kGlpkGaveUp);
  return std::nullopt;
}

TEST(BranchBound, IsAsGoodAsGlpk) {
  if (!test::have_glpk()) GTEST_SKIP() << "built without GLPK";
  struct Size {
    int gpus;
    int jobs;
    bool alike;
  };
  int asked = 0;
  int answered = 0;
  for (const Size size : {Size{64, 40, false},
                          {64, 80, true},
                          {128, 80, false},
                          {256, 320, true},
                          {512, 320, false},
                          {512, 320, true}}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const AssignmentProblem choice = test::drawn_choice(seed, size.gpus, size.jobs, size.alike);
      const auto found = branch_and_bound(choice);
      ASSERT_TRUE(found) << seed << ": " << found.error().text;
      const double cost = sum_of(choice, *found);
      EXPECT_LE(relative_gap(cost, found->bound), kGap) << seed;
      ++asked;
      const auto other = ask_glpk(choice);
      if (!other) continue;
      ++answered;
      bool inside = false;
      const double theirs = test::cost_of(choice, *other, inside);
      EXPECT_TRUE(inside);
      EXPECT_GE(theirs, found->bound) << size.gpus << " GPUs, seed " << seed;
      EXPECT_LE(relative_gap(theirs, cost), kGap) << size.gpus << " GPUs, seed " << seed;
    }
  }
  EXPECT_GE(answered, 24) << "of " << asked;
  EXPECT_LT(answered, asked) << "some are too much for it: that is what this is for";
}

TEST(BranchBound, AnswersWhatGlpkGivesUp) {
  if (!test::have_glpk()) GTEST_SKIP() << "built without GLPK";
  int given_up = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const AssignmentProblem choice = test::drawn_choice(seed, 512, 320, true);
    if (ask_glpk(choice)) continue;
    ++given_up;
    const auto found = branch_and_bound(choice);
    ASSERT_TRUE(found) << found.error().text;
    EXPECT_LE(relative_gap(sum_of(choice, *found), found->bound), kGap) << seed;
  }
  EXPECT_GT(given_up, 0);
}

TEST(BranchBound, IsTheSameAgainAndInAnyOrderOfJobs) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    AssignmentProblem choice = test::drawn_choice(seed, 64, 60, true);
    const auto one = branch_and_bound(choice);
    const auto two = branch_and_bound(choice);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(one->chosen, two->chosen);
    std::ranges::reverse(choice.costs);
    const auto turned = branch_and_bound(choice);
    ASSERT_TRUE(turned);
    EXPECT_EQ(turned->cost, one->cost);
  }
}

TEST(BranchBound, SaysHowFarItGot) {
  // All jobs have almost the same worth per GPU; only a complete search distinguishes them.
  AssignmentProblem choice{{}, {{0, 5}, {0, 7}, {1, 5}, {1, 8}, {2, 3}}, {53, 59, 61}};
  for (int job = 0; job < 60; ++job) {
    auto& row = choice.costs.emplace_back();
    for (const AssignmentColumn& column : choice.columns) {
      row.push_back(-column.gpus -
                    1e-3 * uniform_noise(1, 2, row.size() + 5 * choice.costs.size()));
    }
  }
  const auto found = branch_and_bound(choice, {1e-9, 2000});
  ASSERT_FALSE(found);
  const std::string& text = found.error().text;
  EXPECT_TRUE(text.starts_with("branch and bound over 60 jobs and 173 GPUs: after ")) << text;
  EXPECT_NE(text.find(" states the best answer is within "), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(" of the bound, and 1e-09 was wanted")) << text;
}

TEST(BranchBound, TakesAnything) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const auto chosen = [](const AssignmentProblem& choice) {
    return branch_and_bound(choice).value().chosen;
  };
  EXPECT_EQ(chosen({{}, {}, {}}), std::vector<ColumnIndex>{});
  EXPECT_EQ(chosen({{{}}, {}, {4}}), std::vector<ColumnIndex>{-1});
  EXPECT_EQ(chosen({{{1, 0}}, {{0, 1}, {0, 2}}, {4}}), std::vector<ColumnIndex>{-1});
  EXPECT_EQ(chosen({{{-1}}, {{0, 1}}, {0}}), std::vector<ColumnIndex>{-1}) << "no GPU";
  EXPECT_EQ(chosen({{{-1}}, {{0, 0}}, {0}}), std::vector<ColumnIndex>{0}) << "needs none";
  EXPECT_EQ(chosen({{{nan, -2, -infinite}}, {{0, 1}, {0, 2}, {0, 1}}, {4}}),
            std::vector<ColumnIndex>{1});
  std::vector<ColumnIndex> one = chosen({{{-1e300, -1}, {-1e300, -1}}, {{0, 1}, {0, 1}}, {1}});
  std::ranges::sort(one);
  EXPECT_EQ(one, (std::vector<ColumnIndex>{-1, 0}));
  EXPECT_EQ(chosen({{{-1e-12}}, {{0, 1}}, {1}}), std::vector<ColumnIndex>{0});
  EXPECT_EQ(chosen({{{-3}, {-2}}, {{0, 1}}, {2'000'000'000}}), (std::vector<ColumnIndex>{0, 0}));
}

}  // namespace
}  // namespace rubato::sim

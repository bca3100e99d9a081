// SPDX-License-Identifier: GPL-2.0-or-later
// The solutions of GLPK and of the simulator have equal worth and satisfy all rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lib/sim/engine/noise.h"
#include "lib/sim/policies/shares.h"
#include "lib/sim/solver/branch_bound.h"
#include "lib/sim/solver/lp.h"
#include "test/sim/choose_exactly.h"
#include "test/sim/glpk.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

/// Uniform numbers in a fixed order.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  double operator()() { return uniform_noise(seed_, 7, next_++); }
  int below(int most) { return static_cast<int>((*this)() * most); }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

double worth(const LinearProgram& linear_program, const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += linear_program.objective[i] * x[i];
  return sum;
}

/// The largest violation of a row by `x`, relative to the row.
double outside(const LinearProgram& linear_program, const std::vector<double>& x) {
  double most = 0;
  for (const double value : x) most = std::max(most, -value);
  for (const LinearProgram::Row& row : linear_program.rows) {
    double sum = 0;
    for (const auto& [variable, factor] : row.terms) {
      sum += factor * x[variable];
    }
    most = std::max(most, (sum - row.bound) / std::max(1.0, std::abs(row.bound)));
  }
  return most;
}

/// Shares of jobs on types, as in the policies: bounded, with an interior.
LinearProgram drawn_program(std::uint64_t seed) {
  Draw draw(seed);
  const int jobs = 1 + draw.below(20);
  const int types = 1 + draw.below(4);
  LinearProgram linear_program;
  std::vector<LinearProgram::Row> capacity(static_cast<std::size_t>(types));
  for (auto& row : capacity) row.bound = 1 + draw.below(20);
  double wanted = 0;
  for (int job = 0; job < jobs; ++job) {
    LinearProgram::Row whole{{}, 1};
    const int gpus = 1 << draw.below(4);
    wanted += gpus;
    for (auto& row : capacity) {
      const VariableIndex variable{linear_program.objective.size()};
      linear_program.objective.push_back(draw() * 10);
      whole.terms.emplace_back(variable, 1);
      row.terms.emplace_back(variable, gpus);
    }
    linear_program.rows.push_back(std::move(whole));
  }
  for (int job = 0; job < jobs; ++job) {
    for (const auto& row : capacity) {
      linear_program.start.push_back(0.5 * std::min(row.bound / wanted, 1.0 / types));
    }
  }
  for (auto& row : capacity) linear_program.rows.push_back(std::move(row));
  return linear_program;
}

class Solve : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::have_glpk()) GTEST_SKIP() << "built without GLPK";
  }
};

/// GLPK's answer, or the simulator's if GLPK fails.
Result<std::vector<double>> glpk_or_own(const LinearProgram& linear_program) {
  auto answer = test::glpk_centre(linear_program);
  return answer ? answer : solve_centre(linear_program);
}

TEST_F(Solve, LinearProgrammesHaveTheSameWorth) {
  for (std::uint64_t seed = 0; seed < test::seeds(200); ++seed) {
    const LinearProgram linear_program = drawn_program(seed);
    const auto own = solve_centre(linear_program);
    const auto other = test::glpk_centre(linear_program);
    ASSERT_TRUE(own) << seed;
    ASSERT_TRUE(other) << seed << ": " << other.error().text;
    const double best = worth(linear_program, *own);
    EXPECT_NEAR(worth(linear_program, *other), best, 1e-6 * std::max(1.0, best)) << seed;
    EXPECT_LT(outside(linear_program, *own), 1e-6) << seed;
    EXPECT_LT(outside(linear_program, *other), 1e-6) << seed;
  }
}

// Rounding spoils the last steps of this program: the solver keeps the last good point.
TEST(Centre, StaysWhereNumbersGiveNoFurtherStep) {
  const LinearProgram linear_program = drawn_program(421);
  const auto found = solve_centre(linear_program);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_NEAR(worth(linear_program, *found), 152.691045, 1e-4);
  EXPECT_LT(outside(linear_program, *found), 1e-6);
}

TEST_F(Solve, ChoicesCostTheSame) {
  for (std::uint64_t seed = 0; seed < test::seeds(100); ++seed) {
    Draw draw(seed);
    AssignmentProblem choice{{}, {{0, 1}, {0, 2}, {0, 4}, {1, 1}, {1, 2}, {1, 8}}, {6, 9}};
    for (int job = 0; job < 8; ++job) {
      auto& row = choice.costs.emplace_back();
      for (std::size_t c = 0; c < choice.columns.size(); ++c) {
        row.push_back(std::floor(100 * draw()) - 80);
      }
    }
    bool inside = false;
    const double best = test::cost_of(choice, test::choose_exactly(choice), inside);
    const auto own = branch_and_bound(choice);
    ASSERT_TRUE(own) << seed << ": " << own.error().text;
    EXPECT_NEAR(test::cost_of(choice, own->chosen, inside), best, 1e-6) << seed;
    EXPECT_TRUE(inside) << seed;
    const auto other = test::glpk_assign(choice);
    ASSERT_TRUE(other) << seed << ": " << other.error().text;
    EXPECT_NEAR(test::cost_of(choice, *other, inside), best, 1e-6) << seed;
    EXPECT_TRUE(inside) << seed;
  }
}

TEST_F(Solve, EveryRuleOfShares) {
  for (std::uint64_t seed = 0; seed < test::seeds(20); ++seed) {
    Draw draw(seed);
    std::vector<ShareJob> jobs(static_cast<std::size_t>(2 + draw.below(15)));
    for (ShareJob& job : jobs) {
      job = {1 << draw.below(3), 1, 100 + 1000 * draw(), {1 + draw(), 1 + 4 * draw()}};
    }
    const std::vector<int> gpus{4, 8};
    for (const ShareRule rule : {ShareRule::kLas, ShareRule::kLasAgnostic, ShareRule::kMaxSum}) {
      const auto own = shares(rule, jobs, gpus);
      const auto other = shares(rule, jobs, gpus, glpk_or_own);
      ASSERT_TRUE(own && other);
      // The rule's objective: the sum of throughputs, or the minimum normalised throughput.
      const auto value = [&](const std::vector<std::vector<double>>& x) {
        double sum = 0;
        double least = 1e300;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
          std::vector<double> throughputs = jobs[i].throughputs;
          if (rule == ShareRule::kLasAgnostic) throughputs = {1, 1};
          const double got = throughputs[0] * x[i][0] + throughputs[1] * x[i][1];
          sum += got;
          least = std::min(least,
                           jobs[i].gpus * got / ((4 * throughputs[0] + 8 * throughputs[1]) / 12));
        }
        return rule == ShareRule::kMaxSum ? sum : least;
      };
      EXPECT_NEAR(value(*other), value(*own), 1e-6 * std::max(1.0, value(*own))) << seed;
    }
  }
}

}  // namespace
}  // namespace rubato::sim

// SPDX-License-Identifier: GPL-2.0-or-later
// The space of plans and its curves, compared with a simple computation.
#include "lib/model/plans/plan_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/model/plans/plan_space.h"

namespace rubato {
namespace {

constexpr ModelShape kShape{
    .params = 1'300'000'000, .hidden = 2048, .layers = 24, .seq = 1024, .heads = 16};

// Every plan with degrees up to the GPUs and steps up to the batch, tried one by one.
std::vector<ExecutionPlan> by_brute_force(const PlanConfiguration& configuration,
                                          const PlanSite& site) {
  std::vector<ExecutionPlan> out;
  for (int d = 1; d <= configuration.gpus; ++d) {
    for (int t = 1; t <= configuration.gpus; ++t) {
      for (int p = 1; p <= configuration.gpus; ++p) {
        if (d * t * p != configuration.gpus) continue;
        for (int a = 1; a <= std::min<std::int64_t>(site.batch, kMaxPlanSteps); ++a) {
          for (const Zero zero : {Zero::kNone, Zero::kSharded, Zero::kOffload}) {
            for (const bool gc : {false, true}) {
              const ExecutionPlan plan{d, t, p, zero, a, gc};
              if (allows(site.plans, plan) &&
                  why_not(plan, configuration, site.shape, site.batch).empty() &&
                  fits(memory_of(plan, configuration, site.shape, site.batch), site.memory)) {
                out.push_back(plan);
              }
            }
          }
        }
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(PlanSpace, IsWhatBruteForceFinds) {
  const std::vector<Plans> allowed{{true, {}},
                                   {false, {PlanKind::kDp}},
                                   {false, {PlanKind::kZeroOffload, PlanKind::kGc}},
                                   {false, {PlanKind::kTp, PlanKind::kPp, PlanKind::kGa}}};
  std::size_t found = 0;
  for (const int gpus : {1, 2, 3, 4, 6, 8, 12, 16}) {
    for (const int nodes : {1, 2, 3}) {
      for (const Plans& plans : allowed) {
        for (const std::int64_t memory : {0, 16384, 40960}) {
          for (const std::int64_t batch : {1, 24, 64}) {
            const PlanSite site{kShape, batch, plans, {memory, 2 * memory}};
            const auto all = plans_at({gpus, nodes, 1}, site);
            ASSERT_EQ(all, by_brute_force({gpus, nodes, 1}, site));
            found += all.size();
          }
        }
      }
    }
  }
  EXPECT_GT(found, 1000U);
}

TEST(PlanSpace, IsEmptyWhereNothingCanRun) {
  EXPECT_TRUE(plans_at({0, 1, 1}, {kShape, 8}).empty());
  EXPECT_TRUE(plans_at({4, 1, 1}, {kShape, 0}).empty());
  EXPECT_TRUE(plans_at({4, 1, 1}, {{}, 8}).empty());
  EXPECT_TRUE(plans_at({4, 1, 1}, {kShape, 8, {true, {}}, {1000, 0}}).empty());
}

class Curves : public testing::Test {
 protected:
  // Beyond two GPUs the job gains little: the exchange of gradients is slow.
  static std::shared_ptr<const PlanModel> model() {
    std::vector<PlanSample> samples;
    for (const int n : {1, 2, 4, 8}) {
      samples.push_back({.plan = {.data = n},
                         .configuration = {n, 1, 4},
                         .batch = 24,
                         .step_seconds = 0.4 + 2.0 / n});
      samples.push_back({.plan = {.data = n, .zero = Zero::kOffload},
                         .configuration = {n, 1, 4},
                         .batch = 24,
                         .step_seconds = 0.9 + 3.0 / n});
    }
    return std::make_shared<const PlanModel>(kShape, samples);
  }

  static CurveQuestion question(std::int64_t gpu_memory = 40960) {
    return {.batch = 24, .gpu_memory_mib = gpu_memory, .host_memory_mib_per_gpu = 65536};
  }

  static PlanQuery query(const PlanConfiguration& configuration, const CurveQuestion& q) {
    return {.configuration = configuration,
            .gpu_memory_mib = q.gpu_memory_mib,
            .host_memory_mib = q.host_memory_mib_per_gpu * configuration.max_per_node(),
            .batch = q.batch,
            .plans = q.plans};
  }
};

TEST_F(Curves, AreTheEnvelopeOfBruteForce) {
  const auto m = model();
  for (const std::int64_t memory : {12000, 40960}) {
    const CurveQuestion q = question(memory);
    const PlanCurve curve(m, q);
    std::map<std::tuple<int, int, int>, double> throughputs;
    for (int n = 1; n <= 3; ++n) {
      for (int g = n; g <= 12; ++g) {
        for (int c = 1; c <= 5; ++c) {
          double less = 0;
          if (g > n) less = std::max(less, throughputs[{g - 1, n, c}]);
          if (c > 1) less = std::max(less, throughputs[{g, n, c - 1}]);
          if (n > 1) less = std::max(less, throughputs[{g / n * (n - 1), n - 1, c}]);
          const double own = m->best(query({g, n, c}, q)).throughput;
          throughputs[{g, n, c}] = own >= 1.01 * less ? own : less;
          const PlanCurvePoint point = curve.at({g, n, c});
          ASSERT_DOUBLE_EQ(point.throughput, (throughputs[{g, n, c}])) << g << " " << n << " " << c;
          ASSERT_EQ(point.feasible, point.throughput > 0);
          if (!point.feasible) continue;
          EXPECT_LE(point.effective.gpus, g);
          EXPECT_LE(point.effective.nodes, n);
          EXPECT_LE(point.effective.cores_per_gpu, c);
          // The resources it reports as used give the throughput it reports.
          EXPECT_DOUBLE_EQ(curve.throughput_of(point.plan, point.effective), point.throughput);
        }
      }
    }
  }
}

TEST_F(Curves, SayFiveWhereAsManyAreNoBetter) {
  CurveQuestion q = question(0);
  q.plans = {false, {PlanKind::kDp}};
  const PlanCurve curve(model(), q);
  // A batch of 24 is not divisible by 5, 7, 9, 10 or 11.
  EXPECT_EQ(curve.at({5, 1, 1}).effective.gpus, 4);
  EXPECT_EQ(curve.at({7, 1, 1}).effective.gpus, 6);
  EXPECT_EQ(curve.at({11, 1, 1}).effective.gpus, 8);
}

TEST_F(Curves, GiveTheSameInAnyOrderOfQuestions) {
  const PlanCurve up(model(), question());
  const PlanCurve down(model(), question());
  for (int g = 1; g <= 16; ++g) (void)up.at({g, 1, 2});
  for (int g = 16; g >= 1; --g) {
    const PlanCurvePoint a = up.at({g, 1, 2});
    const PlanCurvePoint b = down.at({g, 1, 2});
    EXPECT_EQ(a.throughput, b.throughput);
    EXPECT_EQ(a.plan, b.plan);
    EXPECT_EQ(a.effective, b.effective);
  }
}

TEST_F(Curves, AnswerWhateverIsAsked) {
  const PlanCurve curve(model(), question());
  for (const PlanConfiguration& configuration :
       {PlanConfiguration{0, 0, 0}, PlanConfiguration{-5, 7, -1},
        PlanConfiguration{3, 9, 1'000'000}, PlanConfiguration{2'000'000'000, 1, 1}}) {
    const PlanCurvePoint point = curve.at(configuration);
    EXPECT_TRUE(point.feasible);
    EXPECT_TRUE(std::isfinite(point.throughput));
    EXPECT_LE(point.effective.gpus, std::max(1, configuration.gpus));
  }
  // Nothing fits a GPU of one MiB.
  EXPECT_FALSE(PlanCurve(model(), question(1)).at({8, 1, 8}).feasible);
}

TEST_F(Curves, FindTheLeastThatKeepsAGuarantee) {
  const auto m = model();
  const CurveQuestion q = question();
  const PlanCurve curve(m, q);
  for (const auto& [plan, configuration] :
       {std::pair<ExecutionPlan, PlanConfiguration>{{.data = 8, .zero = Zero::kOffload}, {8, 1, 4}},
        {{.data = 8}, {8, 1, 1}},
        {{.data = 4, .checkpointing = true}, {4, 2, 2}}}) {
    const double wanted = curve.throughput_of(plan, configuration);
    ASSERT_GT(wanted, 0);
    const auto least = curve.least(plan, configuration);
    ASSERT_TRUE(least.has_value());
    const PlanConfiguration& e = least->effective;
    EXPECT_GE(least->throughput, wanted * (1 - 1e-9));
    EXPECT_LE(e.gpus, configuration.gpus);
    EXPECT_LE(e.nodes, configuration.nodes);
    EXPECT_LE(e.gpus * e.cores_per_gpu, configuration.gpus * configuration.cores_per_gpu);
    // No smaller allocation suffices.
    for (int g = 1; g <= e.gpus; ++g) {
      for (int n = 1; n <= std::min(g, configuration.nodes); ++n) {
        if (PlanConfiguration{g, n, 1}.max_per_node() > configuration.max_per_node()) continue;
        for (int c = 1; c <= configuration.gpus * configuration.cores_per_gpu / g; ++c) {
          if (std::tie(g, n, c) >= std::tie(e.gpus, e.nodes, e.cores_per_gpu)) continue;
          EXPECT_LT(m->best(query({g, n, c}, q)).throughput, wanted);
        }
      }
    }
  }
  // The best plan needs fewer GPUs than the given bad one.
  EXPECT_LT(curve.least({.data = 8, .zero = Zero::kOffload}, {8, 1, 4})->effective.gpus, 8);
  EXPECT_FALSE(curve.least({.data = 7}, {7, 1, 1}).has_value());
}

}  // namespace
}  // namespace rubato

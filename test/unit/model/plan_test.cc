// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan.h"

#include <gtest/gtest.h>

#include "lib/model/plans/plan_memory.h"

namespace rubato {
namespace {

constexpr ModelShape kShape{
    .params = 1'300'000'000, .hidden = 2048, .layers = 24, .seq = 1024, .heads = 16};

std::string again(std::string_view text, int gpus = 0) {
  const auto plan = parse_execution_plan(text, gpus);
  return plan ? to_text(*plan) : plan.error().text;
}

TEST(ExecutionPlan, IsWrittenInTheWordsOfTheHint) {
  EXPECT_EQ(to_text({}), "dp=1");
  EXPECT_EQ(to_text({.data = 4}), "dp=4");
  EXPECT_EQ(to_text({.data = 4, .tensor = 2, .pipeline = 3, .steps = 8, .checkpointing = true}),
            "dp=4,tp=2,pp=3,ga=8,gc");
  EXPECT_EQ(to_text({.tensor = 8}), "tp=8");
  EXPECT_EQ(to_text({.data = 8, .zero = Zero::kSharded}), "zero=8");
  EXPECT_EQ(to_text({.zero = Zero::kOffload, .checkpointing = true}), "zero-offload=1,gc");
}

TEST(ExecutionPlan, IsReadInAnyOrderOfWords) {
  EXPECT_EQ(again("gc,ga=8,pp=3,tp=2,dp=4"), "dp=4,tp=2,pp=3,ga=8,gc");
  EXPECT_EQ(again("zero-offload=2"), "zero-offload=2");
}

TEST(ExecutionPlan, GivesTheMissingDegreeWhatIsLeftOfTheGpus) {
  EXPECT_EQ(again("dp", 8), "dp=8");
  EXPECT_EQ(again("zero,gc", 8), "zero=8,gc");
  EXPECT_EQ(again("tp=2", 8), "dp=4,tp=2");
  EXPECT_EQ(again("tp,dp=2", 8), "dp=2,tp=4");
  EXPECT_EQ(again("gc", 2), "dp=2,gc");
  EXPECT_EQ(again("pp", 4), "pp=4");
}

TEST(ExecutionPlan, HasOneSpelling) {
  EXPECT_EQ(canonical_plan("zero", 8), "zero");
  EXPECT_EQ(canonical_plan("zero=8", 8), "zero");
  EXPECT_EQ(canonical_plan("gc,dp", 4), "dp,gc");
  EXPECT_EQ(canonical_plan("dp=4,ga=2", 4), "dp,ga=2");
  EXPECT_EQ(canonical_plan("dp=2,tp=4", 8), "tp=4");
  EXPECT_EQ(canonical_plan("tp=4", 4), "tp=4");
  EXPECT_EQ(canonical_plan("", 8), "");
  EXPECT_EQ(canonical_plan("servers=2", 8), "servers=2") << "no plan of this kind";
}

TEST(ExecutionPlan, IsRefusedWithTheWord) {
  EXPECT_EQ(
      again("zeroo=4"),
      "\"zeroo\" is not part of a plan; choose dp, zero, zero-offload, tp, pp, ga, gc; did you "
      "mean zero?");
  EXPECT_EQ(again(""), "a plan is empty; write for instance dp=4,gc");
  EXPECT_EQ(again("dp"), "\"dp\" needs its degree: write dp=2");
  EXPECT_EQ(again("dp=0"), "\"dp=0\": \"0\" is not a whole number from 1 to 100000");
  EXPECT_EQ(again("dp=2x"), "\"dp=2x\": \"2x\" is not a whole number from 1 to 100000");
  EXPECT_EQ(again("gc=2"), "\"gc=2\": gc takes no number");
  EXPECT_EQ(again("ga", 4), "\"ga\" needs its number of micro-batches: write ga=2");
  EXPECT_EQ(again("dp=2,dp=2"), "\"dp\" stands twice");
  EXPECT_EQ(again("dp=2,zero=2"), "\"dp\" and \"zero\" exclude each other");
  EXPECT_EQ(again("dp,tp", 8), "\"dp\" and \"tp\" both lack their degree");
  EXPECT_EQ(again("tp=3", 8), "the other degrees make 3, which does not divide 8 GPUs");
  EXPECT_EQ(again("dp=2,tp=2", 8), "the degrees make 4 GPUs, not 8");
  EXPECT_EQ(again("dp=100000,tp=100000,pp=100000"), "the degrees make more than 100000 GPUs");
}

TEST(ExecutionPlan, NeedsTheWordsThatItUses) {
  using K = PlanKind;
  EXPECT_EQ(kinds_of({.data = 2, .steps = 2, .checkpointing = true}),
            (std::set<K>{K::kDp, K::kGa, K::kGc}));
  EXPECT_EQ(kinds_of({.pipeline = 2, .steps = 2}), (std::set<K>{K::kPp}));
  EXPECT_EQ(kinds_of({.zero = Zero::kOffload}), (std::set<K>{K::kZeroOffload}));
  EXPECT_TRUE(kinds_of({}).empty());

  EXPECT_TRUE(allows({true, {}}, {.data = 2, .tensor = 4}));
  EXPECT_TRUE(allows({false, {K::kDp}}, {}));
  EXPECT_TRUE(allows({false, {K::kTp}}, {}));
  EXPECT_FALSE(allows({false, {K::kZero}}, {}));
  EXPECT_FALSE(allows({false, {K::kDp}}, {.data = 2, .steps = 2}));
  EXPECT_TRUE(allows({false, {K::kPp}}, {.pipeline = 2, .steps = 2}));
}

TEST(ExecutionPlan, CannotRunAgainstTheRules) {
  const auto reason = [](ExecutionPlan plan, PlanConfiguration configuration,
                         std::int64_t batch = 64) {
    return why_not(plan, configuration, kShape, batch);
  };
  EXPECT_EQ(reason({.data = 4}, {4, 1, 1}), "");
  EXPECT_EQ(reason({.data = 2}, {4, 1, 1}), "the degrees do not make 4 GPUs");
  EXPECT_EQ(reason({.data = 4}, {4, 1, 1}, 6),
            "a batch of 6 does not divide into 4 x 1 micro-batches");
  EXPECT_EQ(reason({.data = 2, .tensor = 2, .zero = Zero::kSharded}, {4, 1, 1}),
            "TP and PP are not combined with ZeRO");
  EXPECT_EQ(reason({.tensor = 3}, {3, 1, 1}), "16 heads do not divide into TP=3");
  EXPECT_EQ(reason({.pipeline = 5}, {5, 1, 1}), "24 layers do not divide into PP=5");
  EXPECT_EQ(reason({.tensor = 8}, {8, 2, 1}), "TP=8 does not divide the GPUs of a node");
  EXPECT_EQ(reason({.data = 2, .tensor = 4}, {8, 2, 1}), "");
  EXPECT_EQ(reason({.data = 4}, {4, 5, 1}), "4 GPUs cannot be on 5 nodes");
  EXPECT_EQ(reason({.data = 4}, {4, 1, 0}), "a GPU needs a core");
  EXPECT_EQ(why_not({.tensor = 2}, {2, 1, 1}, {.params = 5}, 8),
            "TP and PP need hidden, layers, seq and heads of the model");
  EXPECT_EQ(reason({.data = 100000, .tensor = 100000, .pipeline = 100000}, {8, 1, 1}),
            "the degrees do not make 8 GPUs");
}

TEST(PlanMemory, CountsSixteenBytesAParameterAndShardsThem) {
  const ModelShape shape{.params = std::int64_t{1} << 30};  // 1024 Mi
  const auto gpu = [&](ExecutionPlan plan) {
    return memory_of(plan, {static_cast<int>(plan.gpus()), 1, 1}, shape, 64).gpu_mib - 1536;
  };
  EXPECT_DOUBLE_EQ(gpu({.data = 4}), 16 * 1024);
  EXPECT_DOUBLE_EQ(gpu({.data = 4, .zero = Zero::kSharded}), 2 * 1024 + 14 * 256);
  EXPECT_DOUBLE_EQ(gpu({.data = 4, .zero = Zero::kOffload}), 2 * 1024 + 512);
  EXPECT_DOUBLE_EQ(gpu({.tensor = 2, .pipeline = 2}), 16 * 256);
  const PlanMemory host = memory_of({.data = 4, .zero = Zero::kOffload}, {4, 2, 1}, shape, 64);
  EXPECT_DOUBLE_EQ(host.host_mib, 2 * (14 * 256 + 1024));
  EXPECT_FALSE(host.activations_known);
}

TEST(PlanMemory, ChecksBothLimits) {
  const PlanMemory need{.gpu_mib = 920, .host_mib = 500};
  EXPECT_TRUE(fits(need, {}));
  EXPECT_TRUE(fits(need, {1000, 500}));
  EXPECT_FALSE(fits(need, {999, 500}));
  EXPECT_FALSE(fits(need, {1000, 499}));
}

TEST(PlanMemory, ActivationsShrinkWithMicroBatchesAndCheckpointing) {
  const auto gpu = [&](ExecutionPlan plan) {
    return memory_of(plan, {static_cast<int>(plan.gpus()), 1, 1}, kShape, 64).gpu_mib;
  };
  // s m h (34 + 5 a s / h) per layer: 1024 x 64 x 2048 x (34 + 40) x 24 bytes.
  EXPECT_NEAR(gpu({}) - 1536 - 16 * 1.3e9 / 1048576, 1024.0 * 64 * 2048 * 74 * 24 / 1048576, 1e-6);
  EXPECT_LT(gpu({.steps = 2}), gpu({}));
  EXPECT_LT(gpu({.checkpointing = true}), gpu({}));
  EXPECT_LT(gpu({.tensor = 2}), gpu({}));
  // The first stage holds as many micro-batches as there are stages.
  EXPECT_LT(gpu({.pipeline = 2, .steps = 8}), gpu({.pipeline = 2, .steps = 2}));
}

}  // namespace
}  // namespace rubato

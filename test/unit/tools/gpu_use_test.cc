// SPDX-License-Identifier: GPL-2.0-or-later
// The GPUs of a snapshot by type.
#include "tools/shared/gpu_use.h"

#include <gtest/gtest.h>

namespace rubato::tools {
namespace {

Node node_of(const std::string& type, int total, int free, bool usable = true) {
  Node node;
  node.cores = 8;
  node.cores_free = 4;
  node.memory = 100;
  node.memory_free = 50;
  node.usable = usable;
  node.gpus = {{type, total, free}};
  return node;
}

TEST(GpuUse, CountsHeldFreeAndOutByType) {
  Snapshot snapshot;
  snapshot.nodes = {node_of("a100", 4, 4), node_of("a100", 4, 3), node_of("a100", 4, 2, false),
                    node_of("h100", 8, 0)};
  const auto use = gpu_use(snapshot, nullptr);
  ASSERT_EQ(use.size(), 2U);
  EXPECT_EQ(use[0], (GpuTypeUse{.type = "a100",
                                .nodes = 3,
                                .total = 12,
                                .held = 3,
                                .free = 7,
                                .out = 2,
                                .whole = 4,
                                .largest = 4}));
  EXPECT_NEAR(use[0].scattered(), 3.0 / 7, 1e-9);
  EXPECT_EQ(use[1].held, 8);
  EXPECT_EQ(use[1].scattered(), 0);
}

TEST(GpuUse, FreeGpusWithoutCoresAreStarved) {
  Snapshot snapshot;
  snapshot.nodes = {node_of("a100", 4, 3), node_of("a100", 4, 1)};
  snapshot.nodes[0].cores_free = 0;
  EXPECT_EQ(gpu_use(snapshot, nullptr)[0].starved, 3);
}

TEST(GpuUse, HasThePricesOfThePlan) {
  Snapshot snapshot;
  snapshot.nodes = {node_of("a100", 4, 0)};
  Plan plan;
  plan.prices = {{"a100", 1.5}, {"other", 2}};
  const auto use = gpu_use(snapshot, &plan);
  ASSERT_EQ(use.size(), 1U);
  EXPECT_EQ(use[0].price, 1.5);
}

}  // namespace
}  // namespace rubato::tools

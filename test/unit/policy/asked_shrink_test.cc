// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/asked_shrink.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_running;
using test::kNow;
using test::make_cluster;
using test::share_of;

/// A job with GPUs of nodes 0, 1, ... as listed, and resize=live for all sizes.
Job& add_live(Snapshot& snapshot, const std::vector<int>& gpus) {
  std::vector<NodeShare> shares;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    shares.push_back(share_of(snapshot, static_cast<NodeIndex>(i), gpus[i]));
  Job& job = add_running(snapshot, shares, kNow + 3600);
  job.hints.emplace();
  job.hints->sizes = GpuSizes({{1, 64}});
  job.hints->resize = Resize::kLive;
  return job;
}

std::vector<NodeIndex> kept(const Snapshot& snapshot, const Job& job, int gpus) {
  const auto shares = nodes_kept(snapshot, job, gpus);
  std::vector<NodeIndex> nodes;
  if (!shares) return nodes;
  for (const NodeShare& share : *shares) nodes.push_back(share.node);
  return nodes;
}

std::string why(const Snapshot& snapshot, const Job& job, int gpus) {
  const auto shares = nodes_kept(snapshot, job, gpus);
  return shares ? "" : shares.error().text;
}

using Nodes = std::vector<NodeIndex>;

Snapshot three_nodes() { return make_cluster({{"a100", 8}, {"a100", 8}, {"a100", 8}}); }

TEST(AskedShrink, GivesBackTheNodesThatBecomeFree) {
  Snapshot snapshot = three_nodes();
  add_running(snapshot, {share_of(snapshot, 2, 1)}, kNow + 3600);
  const Job& job = add_live(snapshot, {4, 4, 4});
  EXPECT_EQ(kept(snapshot, job, 8), (Nodes{0, 2}));
}

TEST(AskedShrink, KeepsTheFirstNodeAlthoughOthersFitBetter) {
  Snapshot snapshot = three_nodes();
  const Job& job = add_live(snapshot, {2, 4, 4});
  EXPECT_EQ(kept(snapshot, job, 2), (Nodes{0}));
  EXPECT_EQ(kept(snapshot, job, 6), (Nodes{0, 1}));
  EXPECT_EQ(why(snapshot, job, 4),
            "4 GPUs: with whole nodes, that of its batch script among them, it can have 2, 6");
}

// It grew to a lower node since its start.
TEST(AskedShrink, KeepsTheNodeOfItsBatchScript) {
  Snapshot snapshot = three_nodes();
  Job& job = add_live(snapshot, {4, 4, 4});
  job.batch_node = NodeIndex{1};
  EXPECT_EQ(kept(snapshot, job, 4), (Nodes{1}));
  EXPECT_EQ(kept(snapshot, job, 8), (Nodes{0, 1}));
}

TEST(AskedShrink, SaysWhyNot) {
  Snapshot snapshot = three_nodes();
  Job& job = add_live(snapshot, {4, 4});
  EXPECT_EQ(why(snapshot, job, 8), "it has 8 GPUs; this is no shrink");
  job.hints->sizes = GpuSizes({{2, 2}, {8, 8}});
  EXPECT_EQ(why(snapshot, job, 4), "4 GPUs: not one of its sizes, 2,8");
  EXPECT_EQ(
      why(snapshot, job, 2),
      "2 GPUs: at none of its sizes can it keep whole nodes, that of its batch script among them");
  job.hints->resize = Resize::kRestart;
  EXPECT_NE(why(snapshot, job, 2).find("resize=live"), std::string::npos);
  job.hints.reset();
  EXPECT_NE(why(snapshot, job, 2).find("resize=live"), std::string::npos);
}

TEST(AskedShrink, IsTheWayOnlyForFewerGpusAndWithConsent) {
  Snapshot snapshot = three_nodes();
  Job& job = add_live(snapshot, {4, 4});
  EXPECT_TRUE(shrinks_live(job, 4));
  EXPECT_FALSE(shrinks_live(job, 8));
  EXPECT_FALSE(shrinks_live(job, 12));
  job.batch = false;
  EXPECT_FALSE(shrinks_live(job, 4));
}

// All choices of nodes with the first, one after the other.
bool some_choice_has(const Job& job, int gpus) {
  const std::size_t others = job.allocation.size() - 1;
  for (unsigned mask = 0; mask < 1U << others; ++mask) {
    int sum = job.allocation[0].gpu_count();
    for (std::size_t i = 0; i < others; ++i)
      if ((mask >> i & 1U) != 0) sum += job.allocation[i + 1].gpu_count();
    if (sum == gpus) return true;
  }
  return false;
}

TEST(AskedShrink, FindsAChoiceWheneverThereIsOne) {
  std::mt19937 random(7);
  for (int draw = 0; draw < 200; ++draw) {
    Snapshot snapshot = make_cluster(std::vector<std::pair<std::string, int>>(6, {"a100", 8}));
    std::vector<int> gpus(2 + random() % 5);
    for (int& count : gpus) count = static_cast<int>(1 + random() % 8);
    const Job& job = add_live(snapshot, gpus);
    int held = 0;
    for (const int count : gpus) held += count;
    for (int wish = 1; wish < held; ++wish) {
      const auto shares = nodes_kept(snapshot, job, wish);
      EXPECT_EQ(shares.has_value(), some_choice_has(job, wish)) << draw << " " << wish;
      if (!shares) continue;
      int sum = 0;
      for (const NodeShare& share : *shares) sum += share.gpu_count();
      EXPECT_EQ(sum, wish);
      EXPECT_EQ(shares->front().node, job.allocation.front().node);
    }
  }
}

}  // namespace
}  // namespace rubato

// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/asked_growth.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "test/support/build_snapshot.h"

namespace rubato {
namespace {

using test::add_pending;
using test::add_running;
using test::kNow;
using test::make_cluster;
using test::managing_all;
using test::share_of;

/// A batch job with GPUs of these nodes, which asked for 2 and may have up to 16 while it runs.
Job& add_live(Snapshot& snapshot, const std::vector<NodeShare>& shares) {
  Job& job = add_running(snapshot, shares, kNow + 3600);
  job.request.gpus = job.request.cores = 2;
  job.later_set = 0;
  job.hints.emplace();
  job.hints->sizes = GpuSizes({{1, 16}});
  job.hints->request_gpus = 2;
  job.hints->resize = Resize::kLive;
  return job;
}

Result<std::vector<NodeShare>> asked(const Snapshot& snapshot, const Job& job, int gpus,
                                     const Config& config = managing_all(Mode::kPlace)) {
  return nodes_added(snapshot, Models{}, config, job, gpus, kNow);
}

using Added = std::vector<std::tuple<NodeIndex, int, int>>;  // node, GPUs, cores

Added added(const Snapshot& snapshot, const Job& job, int gpus) {
  Added found;
  const auto shares = asked(snapshot, job, gpus);
  if (!shares) return found;
  for (const NodeShare& share : *shares)
    found.emplace_back(share.node, share.gpu_count(), share.cores);
  return found;
}

std::string why(const Snapshot& snapshot, const Job& job, int gpus) {
  const auto shares = asked(snapshot, job, gpus);
  return shares ? "" : shares.error().text;
}

TEST(AskedGrowth, TakesTheFreeGpusOfItsOwnNodeFirst) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job& job = add_live(snapshot, {share_of(snapshot, 1, 2)});
  EXPECT_EQ(added(snapshot, job, 4), (Added{{1, 2, 2}}));
  EXPECT_EQ(added(snapshot, job, 8), (Added{{1, 6, 6}}));
}

TEST(AskedGrowth, GoesElsewhereWhereItsOwnNodeIsFull) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  add_running(snapshot, {share_of(snapshot, 1, 6)}, kNow + 3600);
  const Job& job = add_live(snapshot, {share_of(snapshot, 1, 2)});
  EXPECT_EQ(added(snapshot, job, 6), (Added{{0, 4, 4}}));
}

TEST(AskedGrowth, GetsTheTypeThatItHolds) {
  Snapshot snapshot = make_cluster({{"h100", 8}, {"a100", 2}});
  const Job& job = add_live(snapshot, {share_of(snapshot, 1, 2)});
  EXPECT_NE(why(snapshot, job, 4), "");
  snapshot.nodes.push_back(test::make_node("n3", {{"a100", 8}}));
  snapshot.node_sets[0].push_back(NodeIndex{2});
  EXPECT_EQ(added(snapshot, job, 4), (Added{{2, 2, 2}}));
}

// Slurm would refuse these nodes, although others are free.
TEST(AskedGrowth, TakesNoNodeOfAReservationOfSlurm) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}, {"a100", 8}});
  snapshot.node_sets.push_back({NodeIndex{0}});
  snapshot.windows = {{"kept", kNow - 60, kNow + 600, NodeSetIndex{1}}};
  add_running(snapshot, {share_of(snapshot, 1, 4)}, kNow + 3600);
  Job& job = add_live(snapshot, {share_of(snapshot, 1, 4)});
  EXPECT_EQ(added(snapshot, job, 6), (Added{{2, 2, 2}}));
  EXPECT_NE(why(snapshot, job, 16), "");
  // It begins after the end of the job.
  snapshot.windows[0].start = snapshot.windows[0].end = kNow + 3600;
  EXPECT_EQ(why(snapshot, job, 16), "");
  snapshot.windows[0] = {"kept", kNow + 3599, kNow + 9000, NodeSetIndex{1}};
  EXPECT_NE(why(snapshot, job, 16), "");
  job.node_set = 0;  // the job may use the reservation, says Slurm
  EXPECT_EQ(why(snapshot, job, 16), "");
}

TEST(AskedGrowth, LeavesWhatIsReservedWithinItsTime) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const Job& job = add_live(snapshot, {share_of(snapshot, 0, 2)});
  const JobKey key = job.key;
  Reservation reservation;
  reservation.job = {7, kNow - 60};
  reservation.partition = "gpu";
  reservation.shares = {share_of(snapshot, 0, 5)};
  reservation.start = kNow + 600;
  snapshot.memory.reservations = {reservation};
  const Job& same = *std::ranges::find(snapshot.jobs, key, &Job::key);
  EXPECT_EQ(added(snapshot, same, 4), Added{});
  snapshot.memory.reservations[0].start = kNow + 7200;
  EXPECT_EQ(added(snapshot, same, 4), (Added{{0, 2, 2}}));
}

TEST(AskedGrowth, KeepsToTheNodesOfItsRequest) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 8}});
  Job& job = add_live(snapshot, {share_of(snapshot, 0, 2)});
  job.request.min_nodes = job.request.max_nodes = 1;  // -N1
  job.request.fixed_nodes = true;
  EXPECT_EQ(added(snapshot, job, 4), (Added{{0, 2, 2}}));
  EXPECT_EQ(added(snapshot, job, 6), Added{});
  job.request.gpus = 0;  // -N1 --gres=gpu:2: two of each node
  job.request.gpus_per_node = 2;
  EXPECT_EQ(added(snapshot, job, 4), (Added{{1, 2, 2}}));
}

TEST(AskedGrowth, GoesBeforeJobsThatWait) {
  Snapshot snapshot = make_cluster({{"a100", 8}});
  const JobKey key = add_live(snapshot, {share_of(snapshot, 0, 2)}).key;
  add_pending(snapshot, 6).priority = 1000;
  EXPECT_EQ(added(snapshot, *std::ranges::find(snapshot.jobs, key, &Job::key), 8),
            (Added{{0, 6, 6}}));
}

TEST(AskedGrowth, SaysWhyNot) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  Job& job = add_live(snapshot, {share_of(snapshot, 0, 2)});
  EXPECT_EQ(why(snapshot, job, 2), "it has 2 GPUs; this is no growth");
  EXPECT_EQ(why(snapshot, job, 17), "17 GPUs: not one of its sizes, 1-16");
  job.hints->unit = 2;
  EXPECT_EQ(why(snapshot, job, 5), "5 GPUs: not a multiple of 2, as its request requires");
  Config capped = managing_all(Mode::kPlace);
  capped.growth_caps[""] = 1;
  const auto over = asked(snapshot, job, 4, capped);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().text, "4 GPUs are 2 beyond its request; GrowthCap leaves 1");
  job.hints->resize = Resize::kRestart;
  EXPECT_NE(why(snapshot, job, 4).find("resize=live"), std::string::npos);
  EXPECT_FALSE(grows_live(job, 4));
}

TEST(AskedGrowth, WhatAPlanAddsIsBesideWhatTheJobHolds) {
  Snapshot snapshot = make_cluster({{"a100", 8}, {"a100", 8}});
  const Job& job = add_live(snapshot, {share_of(snapshot, 0, 2)});
  const auto more = beside_held(job, {share_of(snapshot, 0, 6), share_of(snapshot, 1, 2)});
  EXPECT_EQ(more, (std::vector<NodeShare>{share_of(snapshot, 0, 4), share_of(snapshot, 1, 2)}));
  EXPECT_TRUE(beside_held(job, job.allocation).empty());
}

}  // namespace
}  // namespace rubato

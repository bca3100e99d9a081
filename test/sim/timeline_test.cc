// SPDX-License-Identifier: GPL-2.0-or-later
// Data of charts over time, and shapes of real clusters.
#include "lib/sim/engine/timeline.h"

#include <gtest/gtest.h>

#include "lib/sim/engine/cluster_snapshot.h"

namespace rubato::sim {
namespace {

ClusterShape shape(const char* text) { return *parse_cluster_shape(text); }

JobResult job(double arrival, double start, double finish) {
  JobResult result;
  result.arrival = arrival;
  result.first_start = start;
  result.finish = finish;
  return result;
}

/// Two jobs on four GPUs. The first holds two from 0 to 40. The second waits from 10 on and holds
/// four from 40 to 80, except from 60 to 70.
RunMetrics small_run() {
  RunMetrics record;
  record.jobs = {job(0, 0, 40), job(10, 40, 80)};
  record.end = 80;
  record.intervals = {{0, 0, 0, 2, 0, 40}, {1, 0, 0, 4, 40, 60}, {1, 0, 0, 4, 70, 80}};
  return record;
}

TEST(Timeline, MeansOfPartsAddUpToTheWhole) {
  const Timeline time = timeline(small_run(), 0, 80, 4);
  EXPECT_EQ(time.bin, 20);
  EXPECT_EQ(time.held, (std::vector<double>{2, 2, 4, 2}));
  EXPECT_EQ(time.waiting, (std::vector<double>{0.5, 1, 0, 0.5}));
  EXPECT_EQ(time.max_waiting, 1);
  EXPECT_EQ(time.held_gpu_seconds, 200);
}

TEST(Timeline, PartsThatCutSegmentsKeepTheSum) {
  for (const std::size_t bins : {1UL, 3UL, 7UL, 240UL}) {
    const Timeline time = timeline(small_run(), 0, 80, bins);
    double held = 0;
    double waited = 0;
    for (const double mean : time.held) held += mean * time.bin;
    for (const double mean : time.waiting) waited += mean * time.bin;
    EXPECT_NEAR(held, 200, 1e-9) << bins;
    EXPECT_NEAR(waited, 40, 1e-9) << bins;
  }
}

TEST(Timeline, AJobOverSeveralNodesWaitsOnce) {
  RunMetrics record;
  record.jobs = {job(0, 20, 60)};
  record.end = 60;
  record.intervals = {{0, 0, 0, 4, 20, 60}, {0, 0, 1, 4, 20, 60}};
  const Timeline time = timeline(record, 0, 60, 3);
  EXPECT_EQ(time.held, (std::vector<double>{0, 8, 8}));
  EXPECT_EQ(time.waiting, (std::vector<double>{1, 0, 0}));
}

TEST(Timeline, WhatWasGivenUpStopsWaiting) {
  RunMetrics record;
  record.jobs = {job(0, 10, kNever), job(0, kNever, kNever)};
  record.jobs[0].dropped = record.jobs[1].dropped = true;
  record.end = 100;
  record.intervals = {{0, 0, 0, 1, 10, 20}};
  EXPECT_EQ(timeline(record, 0, 100, 10).waiting,
            (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Timeline, WithoutSegmentsAJobWaitsUntilItsStart) {
  RunMetrics record;
  record.jobs = {job(0, 30, 60), job(50, kNever, kNever)};
  record.end = 60;
  const Timeline time = timeline(record, 0, 60, 6);
  EXPECT_TRUE(time.held.empty());
  EXPECT_EQ(time.waiting, (std::vector<double>{1, 1, 1, 0, 0, 1}));
}

TEST(Lanes, AJobKeepsItsRowsAndOthersFillTheSmallestGap) {
  RunMetrics record;
  record.jobs.resize(4);
  record.intervals = {{0, 0, 0, 2, 0, 10},
                      {1, 0, 0, 1, 0, 30},
                      {2, 0, 0, 5, 0, 5},
                      {0, 0, 0, 2, 10, 20},
                      {3, 0, 0, 4, 5, 9}};
  const Lanes found = lanes(record, shape("a:1x8"));
  EXPECT_TRUE(found.nodes_known);
  EXPECT_EQ(found.undrawn_gpu_seconds, 0);
  EXPECT_EQ(found.bars, (std::vector<LaneBar>{
                            {0, 0, 2, 0, 20}, {1, 2, 1, 0, 30}, {2, 3, 5, 0, 5}, {3, 3, 4, 5, 9}}));
}

TEST(Lanes, RowsOfNodesFollowTheCluster) {
  RunMetrics record;
  record.jobs.resize(2);
  record.intervals = {{0, 1, 1, 2, 0, 1}, {1, 0, 1, 4, 0, 1}};
  EXPECT_EQ(lanes(record, shape("a:2x4,b:2x2")).bars,
            (std::vector<LaneBar>{{0, 10, 2, 0, 1}, {1, 4, 4, 0, 1}}));
}

TEST(Lanes, ARunWithoutNodesHasRowsOfTypes) {
  RunMetrics record;
  record.jobs.resize(2);
  record.intervals = {{0, 1, -1, 6, 0, 1}, {1, 1, -1, 2, 0, 1}};
  const Lanes found = lanes(record, shape("a:1x2,b:2x4"));
  EXPECT_FALSE(found.nodes_known);
  EXPECT_EQ(found.bars, (std::vector<LaneBar>{{0, 2, 6, 0, 1}, {1, 8, 2, 0, 1}}));
}

TEST(Lanes, WhatIsGivenTwiceIsNotDrawnAndCounted) {
  RunMetrics record;
  record.jobs.resize(2);
  record.intervals = {{0, 0, 0, 3, 0, 10}, {1, 0, 0, 3, 0, 10}, {1, 7, 0, 1, 0, 2}};
  const Lanes found = lanes(record, shape("a:1x4"));
  EXPECT_EQ(found.undrawn_gpu_seconds, 22);
  EXPECT_EQ(found.bars.size(), 2U);
  EXPECT_EQ(found.bars.back().lanes, 1);
}

Node node(const char* name, int cores, MiB memory, std::vector<GpuGroup> gpus) {
  Node made;
  made.name = name;
  made.cores = cores;
  made.memory = memory;
  made.gpus = std::move(gpus);
  made.usable = true;
  return made;
}

TEST(SnapshotShape, NodesThatAreAlikeAreAGroup) {
  Snapshot snapshot;
  snapshot.nodes = {node("n1", 64, 1000, {{"t4", 4, 4}}), node("n2", 64, 1000, {{"t4", 4, 0}}),
                    node("n3", 96, 2000, {{"a100", 8, 1}}), node("login", 4, 10, {})};
  const auto found = shape_of(snapshot);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cluster.text(), "a100:1x8/96/2000M,t4:2x4/64/1000M");
  EXPECT_TRUE(found->notes.empty());
}

TEST(SnapshotShape, WhatAShapeCannotSayIsNoted) {
  Snapshot snapshot;
  snapshot.nodes = {node("n1", 64, 1000, {{"v", 8, 8}}), node("n2", 32, 900, {{"v", 8, 8}}),
                    node("n3", 32, 500, {{"v", 4, 4}}),
                    node("n4", 40, 100, {{"", 1, 1}, {"h", 3, 3}})};
  snapshot.nodes[1].usable = false;
  const auto found = shape_of(snapshot);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cluster.text(), "gpu:1x1/10/25M,h:1x3/30/75M,v:2x8/32/900M,v-4:1x4/32/500M");
  EXPECT_EQ(found->cluster.groups.back().gpu, "v");
  EXPECT_EQ(found->notes,
            (std::vector<std::string>{
                "Nodes of type v differ in cores or memory; the smallest values count for all.",
                "Nodes with 4 GPUs of type v are the type v-4 here.",
                "Nodes with several GPU types count as one node per type: n4.",
                "Includes nodes that are down or drained: n2."}));
}

TEST(SnapshotShape, AClusterWithoutGpusHasNone) {
  Snapshot snapshot;
  snapshot.nodes = {node("n1", 64, 1000, {})};
  EXPECT_FALSE(shape_of(snapshot));
}

TEST(RunRecords, OfAStalledRunEndWithTheLastThingThatHappened) {
  RunMetrics record;
  record.end = 1e6;
  record.jobs.resize(3);
  record.jobs[0] = {0, 0, 100};
  record.jobs[0].ideal_s = 50;
  record.jobs[1].arrival = 300;
  record.jobs[1].ideal_s = 150;
  record.last_end = 100;
  EXPECT_EQ(record.last_event(), 1e6);
  record.stalled = true;
  EXPECT_EQ(record.last_event(), 300) << "one came later";
  record.last_end = 400;
  EXPECT_EQ(record.last_event(), 400);
  const Metrics metrics = measure(record, {}, 4, 0);
  EXPECT_EQ(metrics.ideal_avg_jct_s, 100) << "of all that can run";
  EXPECT_EQ(metrics.ideal_finished_s, 50) << "of those that AVG is over";
}

}  // namespace
}  // namespace rubato::sim

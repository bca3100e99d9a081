// SPDX-License-Identifier: GPL-2.0-or-later
// The text of every reason; one changed input changes it.
#include <gtest/gtest.h>

#include "lib/policy/round.h"
#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

Explanation explain(const Snapshot& snapshot, std::size_t order = 0,
                    const Config& config = Config()) {
  return round(snapshot, Models(), config, kNow).explanations.at(order);
}

std::string fact(const Explanation& explanation, const std::string& name) {
  for (const auto& [key, value] : explanation.facts) {
    if (key == name) return value;
  }
  return "no such fact";
}

Config no_reservations() {
  Config config;
  config.test_off.insert(Mechanism::kReserve);
  return config;
}

// GPUs without a type have no name. The type that the others wait for is a fact, as each number of
// a reason is, also for a job whose own speed nothing is known of.
TEST(Explain, a_start_on_a_slower_type_because_of_those_who_wait) {
  for (const std::string slower : {"v100", ""}) {
    const std::map<std::string, double> speeds{{"a100", 1.3}, {slower, 1.0}};
    const std::vector<ThroughputObservation> observed{{{"lab", "bert"}, "a100", 1, 100, 20}};
    const Models models(speeds,
                        std::make_shared<const ThroughputModel>(TypeSpeeds(speeds), observed));
    Snapshot snapshot = make_cluster({{"a100", 4}, {slower, 4}});
    add_pending(snapshot, 2);
    add_pending(snapshot, 4, "a100");
    add_pending(snapshot, 4, "a100");
    add_pending(snapshot, 1);
    for (Job& job : snapshot.jobs) {
      job.account = "lab";
      job.hints.emplace();
    }
    snapshot.jobs[0].hints->job_type = "new";
    snapshot.jobs[3].hints->job_type = "bert";
    const Explanation e = round(snapshot, models, Config(), kNow).explanations.at(0);
    const std::string takes = slower.empty() ? "GPUs without a type" : slower;
    EXPECT_NE(e.reason.find("wait for a100, so it takes " + takes), std::string::npos) << e.reason;
    EXPECT_EQ(fact(e, "matched"), "a100");
  }
}

TEST(Explain, a_start) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  Job& job = add_pending(snapshot, 8);
  job.request.cores = 16;
  const Explanation e = explain(snapshot);
  EXPECT_EQ(e.reason, "starts on n1,n2 with 8 GPUs of type a100 and 16 cores");
  EXPECT_EQ(e.gpu_type, "a100");
  EXPECT_EQ(e.nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(e.start_earliest, kNow);
  EXPECT_EQ(e.start_latest, kNow);
  EXPECT_EQ(fact(e, "time_limit"), "01:00:00");
  EXPECT_EQ(fact(e, "waited"), "00:01:00");
}

TEST(Explain, gpus_are_short) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 600);
  add_pending(snapshot, 8, "a100");
  const Explanation e = explain(snapshot, 0, no_reservations());
  EXPECT_EQ(e.verdict, Verdict::kWait);
  EXPECT_EQ(e.reason, "asks for 8 GPUs of type a100; free on the 2 nodes it may use: 5 of 8 a100");
  EXPECT_EQ(fact(e, "free_gpus.a100"), "5 of 8");
  // One GPU less in use: another number.
  snapshot.nodes[0].gpus[0].free = 2;
  EXPECT_EQ(explain(snapshot, 0, no_reservations()).reason,
            "asks for 8 GPUs of type a100; free on the 2 nodes it may use: 6 of 8 a100");
}

TEST(Explain, gpus_are_short_on_single_nodes) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kNow + 600);
  Job& job = add_pending(snapshot, 0);
  job.request.gpus_per_node = 4;
  job.request.min_nodes = job.request.max_nodes = 2;
  EXPECT_EQ(explain(snapshot, 0, no_reservations()).reason,
            "asks for 4 GPUs on each of 2 nodes; free on the 2 nodes it may use: 7 of 8 a100, and "
            "1 node has enough of them");
}

TEST(Explain, cores_are_short) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  snapshot.nodes[0].cores_free = 6;
  Job& job = add_pending(snapshot, 1);
  job.request.cores = 8;
  EXPECT_EQ(explain(snapshot, 0, no_reservations()).reason,
            "asks for 1 GPU; cores are short: 6 free on 1 node, and 0 of the 1 node that would do "
            "have enough");
}

TEST(Explain, memory_is_short) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  for (Node& node : snapshot.nodes) node.memory_free = 1000;
  Job& job = add_pending(snapshot, 1);
  job.request.memory_per_node = 2000;
  EXPECT_EQ(explain(snapshot, 0, no_reservations()).reason,
            "asks for 1 GPU; memory is short: 2000 MiB free on 2 nodes, and 0 of the 2 nodes that "
            "would do have enough");
}

TEST(Explain, nodes_are_down) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  snapshot.nodes[1].usable = false;
  add_pending(snapshot, 8);
  EXPECT_EQ(explain(snapshot, 0, no_reservations()).reason,
            "asks for 8 GPUs; only 1 of the 2 nodes it may use is up");
}

TEST(Explain, no_node_is_empty) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  snapshot.nodes[0].cores_free = 31;
  add_pending(snapshot, 1).request.whole_nodes = true;
  EXPECT_EQ(explain(snapshot, 0, no_reservations()).reason,
            "asks for 1 GPU, whole nodes; 0 of the 1 node it may use are empty");
}

TEST(Explain, what_no_node_could_give) {
  Snapshot snapshot = make_cluster({{"a100", 4}, {"a100", 4}});
  add_pending(snapshot, 9);
  const Explanation e = explain(snapshot);
  EXPECT_EQ(e.verdict, Verdict::kAttempt);
  EXPECT_EQ(e.reason,
            "Slurm is asked, though there seems to be no room: it asks for 9 GPUs, which the 2 "
            "nodes it may use could not give if empty");
}

TEST(Explain, a_reservation_and_who_waits_for_it) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 3)}, kNow + 600);
  const std::string label = add_pending(snapshot, 4).label;
  add_pending(snapshot, 1);
  const Explanation first = explain(snapshot, 0);
  EXPECT_EQ(first.verdict, Verdict::kReserve);
  EXPECT_EQ(first.reason,
            "waits for n1, free in 00:10:00 unless a job before it starts there; asks for 4 GPUs; "
            "free on the 1 node it may use: 1 of 4 a100");
  EXPECT_EQ(first.start_latest, 0);
  EXPECT_EQ(fact(first, "reserve_reason"), "first");
  EXPECT_EQ(explain(snapshot, 1).reason,
            "asks for 1 GPU, which is free, but would run for 01:00:00 on nodes reserved for job " +
                label + " in 00:10:00");
  // The running job ends earlier: another time.
  snapshot.jobs.back().end_limit = kNow + 90;
  EXPECT_EQ(explain(snapshot, 1).reason,
            "asks for 1 GPU, which is free, but would run for 01:00:00 on nodes reserved for job " +
                label + " in 00:01:30");
}

TEST(Explain, a_plan_of_stock_backfill) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& cpu = add_pending(snapshot, 0);
  cpu.managed = false;
  cpu.request.cores = 64;
  cpu.stock_start = kNow + 1800;
  cpu.stock_nodes = {0};
  const std::string label = cpu.label;
  add_pending(snapshot, 1);
  EXPECT_EQ(explain(snapshot, 1, no_reservations()).reason,
            "asks for 1 GPU, which is free, but would run for 01:00:00 where stock backfill starts "
            "job " +
                label + " in 00:30:00");
  EXPECT_EQ(explain(snapshot, 0).start_latest, kNow + 1800);
}

TEST(Explain, the_words_of_slurm) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  Job& job = add_pending(snapshot, 1);
  job.block = Block::kLimit;
  job.block_text = "QOSGrpGRES";
  EXPECT_EQ(explain(snapshot).reason, "Slurm does not let it start: QOSGrpGRES");
  snapshot.jobs[0].block_text.clear();
  EXPECT_EQ(explain(snapshot).reason, "Slurm does not let it start: limit");
  snapshot.jobs[0].het = true;
  EXPECT_EQ(explain(snapshot).reason,
            "is part of a heterogeneous job, which stock backfill starts");
}

TEST(Explain, a_drain) {
  Snapshot snapshot = make_cluster({{"a100", 4}});
  add_running(snapshot, {share_of(snapshot, 0, 1)}, kForever);
  const std::string label = add_pending(snapshot, 4).label;
  add_pending(snapshot, 1).time_limit = kForever;
  EXPECT_EQ(explain(snapshot, 0).reason,
            "waits for n1: jobs without a time limit run there; jobs with a limit may use it "
            "meanwhile; asks for 4 GPUs; free on the 1 node it may use: 3 of 4 a100");
  EXPECT_EQ(explain(snapshot, 1).reason,
            "asks for 1 GPU, which is free, but would run without a time limit on nodes that are "
            "kept for job " +
                label);
}

}  // namespace
}  // namespace rubato::test
